// Linear::PackRows: weights into the panels the kernels read.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "model/ops/linear.h"
#include "model/ops/parallel.h"
#include "model/support/large_memory.h"

namespace platen {
namespace {

// Fills the 64 places of panels. Place j of a panel is an output column; with silu_mul the first 32
// are columns of the gate, the others the same columns of the second factor.
class Packer {
 public:
  Packer(const LinearShape& shape, const WeightRows& w, std::span<const float> bias,
         const LinearMemory& out)
      : shape_(shape), w_(w), bias_(bias), out_(out) {}

  void PackF32(int64_t panel) const {
    auto* out = reinterpret_cast<float*>(Panel(panel));
    std::vector<float> scratch(static_cast<size_t>(shape_.depth));
    for (int64_t place = 0; place < kPanelColumns; ++place) {
      const float* row = Weights(panel, place, scratch);
      for (int64_t i = 0; i < shape_.depth; ++i) {
        out[i * kPanelColumns + place] = row != nullptr ? row[i] : 0.0F;
      }
    }
  }

  // Per column and group: scale = absmax / 127, w = round-to-even(x * (127 / absmax)), stored as
  // w ^ 0x80 in fours of k. Padding is w = 0.
  void PackS8(int64_t panel) const {
    auto* out = reinterpret_cast<uint8_t*>(Panel(panel));
    float* scales = out_.scales.data() + panel * shape_.groups() * kPanelColumns;
    std::vector<float> scratch(static_cast<size_t>(shape_.depth));
    std::vector<int8_t> values(static_cast<size_t>(shape_.k_padded()));
    for (int64_t place = 0; place < kPanelColumns; ++place) {
      const float* row = Weights(panel, place, scratch);
      for (int64_t g = 0; g < shape_.groups(); ++g) {
        const int64_t begin = g * shape_.group();
        const int64_t count = std::min<int64_t>(shape_.group(), shape_.depth - begin);
        scales[g * kPanelColumns + place] =
            row == nullptr ? ClearGroup(values.data() + begin, count)
                           : QuantizeGroup(row + begin, count, values.data() + begin);
      }
      StoreInFours(values, out + place * 4);
    }
  }

  void PackBias(int64_t panel) const {
    float* out = out_.bias.data() + panel * kPanelColumns;
    for (int64_t place = 0; place < kPanelColumns; ++place) {
      const int64_t index = RowIndex(panel, place);
      out[place] = index < 0 ? 0.0F : bias_[static_cast<size_t>(index)];
    }
  }

 private:
  std::byte* Panel(int64_t panel) const {
    return out_.panels.data() + panel * shape_.panel_bytes();
  }
  // Row of W that stands in a place; -1 for padding.
  int64_t RowIndex(int64_t panel, int64_t place) const {
    const int64_t per_panel = shape_.panel_columns();
    const int64_t column = panel * per_panel + place % per_panel;
    if (column >= shape_.columns) return -1;
    return place < per_panel ? column : shape_.columns + column;
  }
  // nullptr for padding.
  const float* Weights(int64_t panel, int64_t place, std::span<float> scratch) const {
    const int64_t index = RowIndex(panel, place);
    return index < 0 ? nullptr : w_.read(index, scratch);
  }

  static float ClearGroup(int8_t* out, int64_t count) {
    std::fill_n(out, count, int8_t{0});
    return 0;
  }

  // Returns the scale.
  static float QuantizeGroup(const float* x, int64_t count, int8_t* out) {
    float absmax = 0.0F;
    for (int64_t i = 0; i < count; ++i) absmax = std::max(absmax, std::abs(x[i]));
    // 127 / absmax would be infinite for the smallest numbers; such a group is 0.
    constexpr float kSmallest = 127.0F / std::numeric_limits<float>::max();
    const float inverse = absmax > kSmallest ? 127.0F / absmax : 0.0F;
    // Adding 1.5 * 2^23 leaves no bits behind the point: rounds to even, as the FPU does.
    constexpr float kRound = 12582912.0F;
    for (int64_t i = 0; i < count; ++i) {
      out[i] = static_cast<int8_t>(static_cast<int32_t>((x[i] * inverse + kRound) - kRound));
    }
    return absmax / 127.0F;
  }

  static void StoreInFours(const std::vector<int8_t>& values, uint8_t* out) {
    for (size_t i = 0; i < values.size(); i += 4, out += kPanelColumns * 4) {
      uint32_t four = 0;
      std::memcpy(&four, values.data() + i, 4);
      four ^= 0x80808080U;
      std::memcpy(out, &four, 4);
    }
  }

  const LinearShape& shape_;
  const WeightRows& w_;
  std::span<const float> bias_;
  const LinearMemory& out_;
};

}  // namespace

LinearMemory::LinearMemory(const LinearShape& shape, bool has_bias) {
  const auto num_scales = static_cast<size_t>(shape.num_scales());
  const auto num_bias = static_cast<size_t>(has_bias ? shape.num_panels() * kPanelColumns : 0);
  const auto panel_bytes = static_cast<size_t>(shape.num_panels() * shape.panel_bytes());
  const size_t floats = num_scales + num_bias;  // whole cache lines: a panel has 64 of each
  const auto memory = AllocateShared(floats * sizeof(float) + panel_bytes);
  auto* const first = reinterpret_cast<float*>(memory.get());
  scales = {first, num_scales};
  bias = {first + num_scales, num_bias};
  panels = {memory.get() + floats * sizeof(float), panel_bytes};
  owner = memory;
}

Linear Linear::PackRows(const LinearShape& shape, const WeightRows& w,
                        std::span<const float> bias) {
  assert(w.rows == shape.columns * (shape.silu_mul ? 2 : 1) && w.depth == shape.depth);
  assert(bias.empty() || static_cast<int64_t>(bias.size()) == w.rows);
  assert(WeightFormat::IsGroup(shape.format.group));
  const LinearMemory memory(shape, !bias.empty());
  const Packer packer(shape, w, bias, memory);
  ParallelFor(shape.num_panels(), [&](int64_t p) {
    shape.int8() ? packer.PackS8(p) : packer.PackF32(p);
    if (!bias.empty()) packer.PackBias(p);
  });
  return FromArrays(shape, memory.arrays(), memory.owner);
}

}  // namespace platen
