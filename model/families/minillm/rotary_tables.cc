#include "model/families/minillm/rotary_tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/kernels/kernels.h"
#include "model/ops/rope.h"

namespace platen::minillm {
namespace {

// A row [Dr] of each table, both halves alike.
void FillRow(std::span<const float> frequencies, float factor, int32_t position, float* cos,
             float* sin) {
  const size_t half = frequencies.size();
  for (size_t d = 0; d < half; ++d) {
    const SinCos s = ExactSinCos(static_cast<float>(position) * frequencies[d]);
    cos[d] = cos[d + half] = s.cos * factor;
    sin[d] = sin[d + half] = s.sin * factor;
  }
}

}  // namespace

RotaryTables::RotaryTables(const Config& config, const Table& cosines, const Table& sines)
    : pairing_(config.rotary.pairing),
      width_(config.rope_width),
      stored_(config.rotary.tables_in_file),
      factor_(static_cast<float>(TableFactor(config.rotary))),
      frequencies_(Frequencies(config.rotary, config.rope_width, config.max_positions)),
      cosines_(cosines),
      sines_(sines) {}

void RotaryTables::Fill(std::span<const int32_t> positions, MatView cos, MatView sin) const {
  const auto width = static_cast<size_t>(width_);
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    if (stored_) {
      WidenRow(cosines_.tensor, positions[i], {cos.Row(row), width});
      WidenRow(sines_.tensor, positions[i], {sin.Row(row), width});
    } else {
      FillRow(frequencies_, factor_, positions[i], cos.Row(row), sin.Row(row));
    }
  }
}

void RotateHalves(const float* cos, const float* sin, int width, float* x) {
  const int half = width / 2;
  for (int d = 0; d < half; ++d) {
    const float a = x[d], b = x[d + half];
    x[d] = a * cos[d] - b * sin[d];
    x[d + half] = b * cos[d + half] + a * sin[d + half];
  }
}

void RotaryTables::Rotate(const float* cos, const float* sin, float* x) const {
  if (pairing_ == Pairing::kAdjacent) {
    std::array<float, kMaxLatentWidth> halves;
    for (int d = 0; d < width_; ++d) {
      halves[static_cast<size_t>(d / 2 + d % 2 * (width_ / 2))] = x[d];
    }
    std::copy_n(halves.data(), width_, x);
  }
  RotateHalves(cos, sin, width_, x);
}

std::string CompareTables(const Config& config, const StoredTensor& cosines,
                          const StoredTensor& sines) {
  const auto width = static_cast<size_t>(config.rope_width);
  const std::vector<float> frequencies =
      Frequencies(config.rotary, config.rope_width, config.max_positions);
  const auto factor = static_cast<float>(TableFactor(config.rotary));
  std::vector<float> cos(width), sin(width), stored(width);
  float worst = 0;
  for (int64_t row = 0; row < cosines.shape[0]; ++row) {
    FillRow(frequencies, factor, static_cast<int32_t>(row), cos.data(), sin.data());
    for (const bool is_cos : {true, false}) {
      WidenRow(is_cos ? cosines : sines, row, stored);
      const std::vector<float>& computed = is_cos ? cos : sin;
      for (size_t d = 0; d < width; ++d) {
        worst = std::max(worst, std::abs(stored[d] - computed[d]));
      }
    }
  }
  constexpr float kBf16Rounding = 0x1p-8F;  // of values around 1
  if (worst <= kBf16Rounding * std::max(1.0F, factor)) return "";
  return "the checkpoint's rotary tables differ by up to " + std::to_string(worst) +
         " from those of config.json; the stored ones are used";
}

}  // namespace platen::minillm
