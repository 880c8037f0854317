// The results as pictures: SVG files for docs/images/.
#pragma once

#include <string>

#include "bench/mtp_from_scratch/experiments.h"

namespace platen::bench {

// Accuracy of chain and independent heads at every depth: a panel for each kind of data and target.
std::string DrawTable(const TableResult& result, double chance);

// Held-out loss against steps, a line for each depth: the chain, and independent heads.
std::string DrawCurves(const TextResult& result);

// Learned weights against steps, a line for each depth: temperature 1, and 0.
std::string DrawWeights(const TextResult& result);

// What is guessed at every place and depth, before training and after.
std::string DrawGuesses(const TextResult& result);

}  // namespace platen::bench
