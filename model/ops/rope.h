// Sines and cosines of rotary position embedding.
//
// Angles are computed as the reference does: inverse frequencies and products rounded to f32. The
// sine and cosine of that angle come from our own double-precision code, so they have the same bits
// on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/ops/tensor.h"

namespace platen {

struct SinCos {
  float sin;
  float cos;
};

// Of an angle in radians, |angle| < 2^20. Correctly rounded but for rare cases.
SinCos ExactSinCos(float angle);

// Inverse frequencies theta^(-2i / dims) for i < dims / 2, rounded to f32.
std::vector<float> InverseFrequencies(double theta, int dims);

// Tables of a decoder batch: row r, pair i uses position axis(i) of the row; axis(i) = 0, 1, 2 for
// i in the three contiguous sections. Layout of KernelTable::rope_adjacent: every cosine twice, the
// sine negative, then positive. cos, sin [rows, 2 * sum(section)].
void FillMropeTables(std::span<const float> inverse_frequencies, std::array<int, 3> section,
                     std::array<std::span<const int32_t>, 3> positions, MatView cos, MatView sin);

// Tables of one image of rows x cols patches in merge-block order (four consecutive rows are one
// 2x2 block): the first half of the angles follows the patch row, the second half the column.
// Layout of KernelTable::rope_half. cos, sin [rows * cols, 2 * inverse_frequencies.size()].
void FillVisionRopeTables(std::span<const float> inverse_frequencies, int rows, int cols,
                          MatView cos, MatView sin);

}  // namespace platen
