// y = x * W^T + b with weights packed once for the kernels, in f32 or int8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"
#include "model/ops/weight_format.h"
#include "model/support/large_memory.h"

namespace platen {

class Linear;

// Activations quantised in the K-groups of the layer that will multiply them.
struct QuantizedRows {
  int64_t rows = 0;
  int64_t stride = 0;                                  // bytes from row to row
  std::vector<int8_t, LargeAllocator<int8_t>> values;  // [rows, k_padded]
  std::vector<float> scales;                           // [rows, groups]
  std::vector<int32_t> corrections;                    // [rows, groups]
};

// The rows a layer multiplies: as they are, or under RMSNorm. Normed rows that only one layer wants
// need no memory of their own in int8: each is quantised while it is in the L1 cache.
struct LinearInput {
  ConstMatView x;
  std::span<const float> norm_weight;  // [x.cols]; empty: no norm
  float eps = 0;

  LinearInput(ConstMatView rows) : x(rows) {}  // NOLINT: rows are an input
  LinearInput(MatView rows) : x(rows) {}       // NOLINT
  LinearInput(ConstMatView rows, std::span<const float> weight, float norm_eps)
      : x(rows), norm_weight(weight), eps(norm_eps) {}
  bool normed() const { return !norm_weight.empty(); }
};

// Buffers of the layers; grow to the largest batch and stay. One Apply at a time.
struct LinearWorkspace {
  QuantizedRows x;
  Mat normed;  // rows under a norm, where they are multiplied as floats
  // Between the two products of ApplySwiGlu: quantised, or as floats.
  QuantizedRows quantized_inner;
  Mat inner;
  Mat pieces;  // of ApplyInPieces, where they are not a job's
  // Sees the input of every Apply, for measurements; may be empty.
  std::function<void(const Linear& linear, ConstMatView x)> observer;
};

// Everything that decides how the arrays of a packed layer are read.
struct LinearShape {
  WeightFormat format = Precision::kF32;
  bool silu_mul = false;  // panels hold 32 columns of the gate and the same 32 of the other factor
  int64_t columns = 0;    // n, of the result
  int64_t depth = 0;      // k

  bool int8() const { return format.precision == Precision::kInt8; }
  int group() const {  // of int8, as the kernels take it
    return format.group == WeightFormat::kWholeDepth ? WeightFormat::kLargestGroup : format.group;
  }
  int64_t panel_columns() const { return silu_mul ? kPanelColumns / 2 : kPanelColumns; }
  int64_t num_panels() const { return (columns + panel_columns() - 1) / panel_columns(); }
  int64_t k_padded() const { return (depth + 3) / 4 * 4; }
  int64_t groups() const { return (k_padded() + group() - 1) / group(); }
  // f32: [k][64] floats; int8: [k_padded / 4][64][4] bytes.
  int64_t panel_bytes() const {
    return kPanelColumns * (int8() ? k_padded() : depth * int64_t{sizeof(float)});
  }
  int64_t num_scales() const {  // int8: [panels][groups][64]
    return int8() ? num_panels() * groups() * kPanelColumns : 0;
  }

  std::string Text() const;  // "int8 in groups of 256 [3072, 1024]"
};

// The arrays of a packed layer, each 64-byte aligned; views.
struct LinearArrays {
  std::span<const std::byte> panels;  // num_panels() panels
  std::span<const float> scales;      // num_scales()
  std::span<const float> bias;        // one for each place of a panel, or empty
};

// The same arrays while they are filled.
struct LinearMemory {
  // Uninitialised. Scales and bias lie before the panels, and layers that are made one after
  // another lie so too: what a product prefetches behind its last panel is what the next layer
  // reads first.
  LinearMemory(const LinearShape& shape, bool has_bias);
  LinearArrays arrays() const { return {panels, scales, bias}; }

  std::span<std::byte> panels;
  std::span<float> scales;
  std::span<float> bias;
  std::shared_ptr<const void> owner;
};

// Rows of a weight matrix from wherever they are stored.
struct WeightRows {
  int64_t rows = 0;
  int64_t depth = 0;
  // Row `index` [depth], written to `scratch` [depth] if it does not lie somewhere as floats.
  // Called from several threads.
  std::function<const float*(int64_t index, std::span<float> scratch)> read;
};

// Packed weights of one linear layer, and the product with any number of rows. A row of the result
// depends on its row of x alone. Immutable after Pack, copies share the arrays; Apply is
// thread-safe on disjoint outputs and workspaces and spreads over the worker pool.
class Linear {
 public:
  Linear() = default;

  // W [n, k] row-major; bias [n] or empty.
  static Linear Pack(WeightFormat format, ConstMatView w, std::span<const float> bias);
  // Two layers of n columns each, stored so that Apply gives silu(x * gate^T + b) * (x * up^T + b).
  static Linear PackSiluMul(WeightFormat format, ConstMatView gate,
                            std::span<const float> gate_bias, ConstMatView up,
                            std::span<const float> up_bias);
  // The same from rows that are read as they are needed, so that only the result is in memory. With
  // silu_mul W [2n, k] and its bias [2n] hold the gate's n rows first.
  static Linear PackRows(const LinearShape& shape, const WeightRows& w,
                         std::span<const float> bias);
  // Arrays packed before, of the lengths that `shape` gives, kept alive by `owner`.
  static Linear FromArrays(const LinearShape& shape, const LinearArrays& arrays,
                           std::shared_ptr<const void> owner);

  // input [rows, k] -> y [rows, n]: stored, added, or stored behind an activation (of f32
  // layers). Only kStore for PackSiluMul.
  enum class Mode { kStore, kAddTo, kRelu, kSilu };
  void Apply(const KernelTable& kernels, const LinearInput& input, MatView y, LinearWorkspace& ws,
             Mode mode = Mode::kStore) const;

  // The same on the calling thread alone: a tile of a larger job. Of f32 layers.
  void ApplyTile(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const;

  // Some of the result: rows from `first_row` and columns from `first_column` on.
  struct Piece {
    int64_t first_row = 0;
    int64_t first_column = 0;
    MatView values;
  };
  // The same, but y has no memory of its own: `take` gets each part of it once, while it is in the
  // cache, and may change it. Pieces hold whole multiples of `unit` columns. Called from several
  // threads.
  void ApplyInPieces(const KernelTable& kernels, const LinearInput& input, int64_t unit,
                     const std::function<void(const Piece&)>& take, LinearWorkspace& ws) const;

  // The same in two halves, for int8: rows are quantised by the layer before, straight from the
  // sums of a job, and lie in memory as bytes only. `next` gets the bits that Apply gives it.
  bool CanFeed(const Linear& next) const;
  void ApplyInto(const Linear& next, const KernelTable& kernels, const LinearInput& input,
                 QuantizedRows& out, LinearWorkspace& ws) const;
  void ApplyQuantized(const KernelTable& kernels, const QuantizedRows& x, MatView y,
                      Mode mode = Mode::kStore) const;

  // The layer of the columns from `first` on, which begins a panel. Shares the arrays.
  Linear ColumnsFrom(int64_t first) const;

  const LinearShape& shape() const { return shape_; }
  const LinearArrays& arrays() const { return arrays_; }
  int64_t columns() const { return shape_.columns; }  // n
  int64_t depth() const { return shape_.depth; }      // k
  size_t bytes() const;

 private:
  static LinearInput Floats(const KernelTable& kernels, const LinearInput& input,
                            LinearWorkspace& ws);
  void Reserve(int64_t rows, QuantizedRows& x) const;
  void Quantize(const KernelTable& kernels, const LinearInput& input, QuantizedRows& out) const;
  template <class Job>
  Job PanelJob(int64_t rows, int64_t first_panel, int64_t most_panels, Mode mode) const;
  GemmS8Job Int8Job(const QuantizedRows& x, int64_t first_row, int64_t rows, int64_t first_panel,
                    int64_t most_panels, Mode mode) const;
  template <class Take>
  void ForPieces(const KernelTable& kernels, const QuantizedRows& x, int64_t job_panels,
                 const Take& take) const;
  void ApplyF32(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const;
  void MultiplyF32(const KernelTable& kernels, ConstMatView x, MatView y, int64_t first_panel,
                   int64_t most_panels, Mode mode) const;
  const std::byte* Panel(int64_t panel) const {
    return arrays_.panels.data() + panel * shape_.panel_bytes();
  }

  // Distance of quantised rows: an odd number of cache lines. At multiples of 1,024 bytes the rows
  // of a job share a few cache sets, and products with k = 1024 or 4096 ran at 0.65 instead of 0.85
  // of the peak.
  int64_t a_stride() const { return (((shape_.k_padded() + 63) / 64) | 1) * 64; }

  LinearShape shape_;
  LinearArrays arrays_;
  std::shared_ptr<const void> owner_;
};

}  // namespace platen
