// Rotary positions with the scalings this family knows: none, linear, YaRN.
//
// Source: Peng et al., YaRN, arXiv:2309.00071; DeepSeek-V3's and transformers' rules for the
// factors beside it.
#pragma once

#include <vector>

namespace platen {
class JsonObject;
}

namespace platen::minillm {

// Which dimensions are a pair.
enum class Pairing {
  kHalves,    // d and d + width / 2
  kAdjacent,  // 2d and 2d + 1
};

struct RotaryConfig {
  enum class Scaling { kNone, kLinear, kYarn };

  Pairing pairing = Pairing::kHalves;
  double theta = 0;
  Scaling scaling = Scaling::kNone;
  double factor = 1;
  int original_positions = 0;
  double beta_fast = 32, beta_slow = 1;
  double mscale = 1, mscale_all_dim = 0;
  bool tables_in_file = false;  // cosines and sines come from the checkpoint
};

// Of `width` dimensions. `max_positions` says whether YaRN changes the frequencies at all. Decoders
// use them rounded to float, as the reference does.
std::vector<double> ExactFrequencies(const RotaryConfig& rotary, int width, int max_positions);
std::vector<float> Frequencies(const RotaryConfig& rotary, int width, int max_positions);

// What cosines and sines are multiplied by, and what the scores are besides 1 / sqrt(width).
double TableFactor(const RotaryConfig& rotary);
double ScoreFactor(const RotaryConfig& rotary);

// Reads rope_theta and the scaling beside it, whichever of rope_scaling and rope_parameters is
// there. `with_default`: YaRN with MiniLLM's own numbers if neither is. Throws Error(kModel).
RotaryConfig ReadRotary(const JsonObject& model, Pairing pairing, bool with_default,
                        int max_positions);

}  // namespace platen::minillm
