// From the encoder's maps to the queries that the decoder refines: the tokens most likely to be
// something, their masks, and the boxes around those.
#pragma once

#include <vector>

#include "model/families/pp_doclayout/attention.h"
#include "model/families/pp_doclayout/encoder.h"

namespace platen::pp_doclayout {

// T = tokens of all levels (stride 8 first, row by row), Q = queries, D = width.
struct QueryMemory {
  Mat memory;  // [T, D]: what the decoder attends to
  Mat x;       // [Q, D]
  Mat boxes;   // [Q, 4]: centre x, y, width, height, as shares of the page

  Mat seen, output, scores;  // [T, ..]
  std::vector<Mat> mlp;
};

// rows through linear layers with ReLU between them; `memory` is the layers' own.
ConstMatView RunMlp(const KernelTable& kernels, const Mlp& mlp, ConstMatView rows,
                    LinearWorkspace& linear, std::vector<Mat>& memory);

// Whether the anchor of each token lies well within the page; the network was trained without those
// that do not.
std::vector<uint8_t> ValidTokens(const Config& config);

// The `count` tokens with the best scores, best first, of equals the first.
std::vector<int64_t> BestTokens(const std::vector<float>& best, int count);

// log(x / (1 - x)), and its inverse, of shares that are kept 1e-5 away from 0 and 1.
float InverseSigmoid(float x);
float Sigmoid(float x);

// Throws Error(kInput) if scores are no numbers.
void SelectQueries(const KernelTable& kernels, const Config& config, const DecoderWeights& weights,
                   const EncoderMaps& maps, LinearWorkspace& linear, QueryMemory& memory,
                   const ArrayObserver& observer);

}  // namespace platen::pp_doclayout
