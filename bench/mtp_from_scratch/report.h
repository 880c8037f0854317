// The results as text.
#pragma once

#include <optional>
#include <string>

#include "bench/mtp_from_scratch/experiments.h"

namespace platen::bench {

struct Figures {
  double low = 0, mean = 0, high = 0;
};
Figures AccuracyOf(const TableRow& row, int depth);
Figures LossOf(const TableRow& row);

// Loss and accuracies of a row at the default sizes, steps and seeds, as the reference
// implementation has them (tests/golden/mtp_training).
struct Expected {
  double loss = 0;
  double accuracy[3] = {};
};
Expected ExpectedOf(const TableRow& row);

// A line for each row; with what is expected if `defaults`.
std::string TableText(const TableResult& result, bool defaults);

// A line for each place: its token and, at every depth, the label, what is guessed before and after
// training, and the label's probability.
std::string GuessesText(const std::vector<TokenId>& sequence, const std::vector<MtpGuess>& before,
                        const std::vector<MtpGuess>& after, const std::vector<uint8_t>* alphabet);

// Learning curves, then what every run comes to.
std::string TextText(const TextResult& result);

// A token: its number or, with an alphabet, its byte.
std::string TokenText(TokenId id, const std::vector<uint8_t>* alphabet);

}  // namespace platen::bench
