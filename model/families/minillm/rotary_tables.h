// Cosines and sines of a batch's positions, and the rotation with them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/minillm/config.h"
#include "model/ops/tensor.h"

namespace platen::minillm {

class RotaryTables {
 public:
  // `cosines` and `sines` are the stored tables, used if the config says so; they may be loaded
  // later and outlive this.
  RotaryTables(const Config& config, const Table& cosines, const Table& sines);

  // cos, sin [positions.size(), Dr]: the two halves belong to the first and the second dimension of
  // each pair.
  void Fill(std::span<const int32_t> positions, MatView cos, MatView sin) const;

  // Rotates Dr values in place with a row of cos and sin. Adjacent pairs come out as halves: scores
  // do not depend on the order of dimensions.
  void Rotate(const float* cos, const float* sin, float* x) const;

 private:
  const Pairing pairing_;
  const int width_;  // Dr
  const bool stored_;
  const float factor_;
  const std::vector<float> frequencies_;  // [Dr / 2]
  const Table& cosines_;
  const Table& sines_;
};

// Rotates `width` values, pairs of d and d + width / 2, in place.
void RotateHalves(const float* cos, const float* sin, int width, float* x);

// A sentence about stored tables that are not those of the config, beyond what rounding to bf16
// explains; empty if they are. `cosines`, `sines` [positions, Dr].
std::string CompareTables(const Config& config, const StoredTensor& cosines,
                          const StoredTensor& sines);

}  // namespace platen::minillm
