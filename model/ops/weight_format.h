// How the weights of a linear are stored and multiplied.
#pragma once

#include <cstdint>

namespace platen {

// How weights are stored and multiplied.
enum class Precision {
  kF32,   // the reference every other precision is measured against
  kInt8,  // weights per output column and K-group, activations per row and K-group, quantised as
          // they arrive; sums of a group are exact
};

// "f32", "int8"
const char* PrecisionName(Precision precision);

// How the weights of one layer are stored.
struct WeightFormat {
  static constexpr int kDefaultGroup = 256;  // against 128: 4 % faster, a tenth more error
  static constexpr int kWholeDepth = 0;      // one group, as long as its sums stay exact in s32
  static constexpr int kGroupStep = 64;
  static constexpr int kLargestGroup = 65536;  // 65536 * 127 * 255 < 2^31

  Precision precision = Precision::kF32;
  // kInt8: K-group of weights and activations, a multiple of kGroupStep up to kLargestGroup, or
  // kWholeDepth. The last group of a layer may be shorter.
  int group = kDefaultGroup;

  WeightFormat(Precision p, int k_group = kDefaultGroup)  // NOLINT: a precision is a format
      : precision(p), group(k_group) {}

  static constexpr bool IsGroup(int64_t group) {
    return group >= 0 && group <= kLargestGroup && group % kGroupStep == 0;
  }
};

}  // namespace platen
