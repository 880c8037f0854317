// A language model without a model: logits that are a function of the tokens so far.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/tensor.h"
#include "model/support/token_id.h"

namespace platen::testing {

struct ToyModel {
  int vocab = 8;
  uint64_t seed = 1;
  double spread = 2;  // of the logits

  std::vector<float> Logits(std::span<const TokenId> tokens) const {
    uint64_t state = seed;
    for (const TokenId token : tokens) state = Mix(state + static_cast<uint64_t>(token) + 1);
    std::vector<float> logits;
    for (int id = 0; id < vocab; ++id) {
      const uint64_t bits = Mix(state ^ (static_cast<uint64_t>(id) * 0x9E3779B97F4A7C15ULL));
      // Coarse, so that equal logits happen.
      const double unit = static_cast<double>(bits >> 58) / 64.0;
      logits.push_back(static_cast<float>(spread * (2 * unit - 1)));
    }
    return logits;
  }

 private:
  static uint64_t Mix(uint64_t z) {
    z += 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
};

}  // namespace platen::testing
