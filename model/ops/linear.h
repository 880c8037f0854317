// y = x * W^T + b with weights packed once for the kernels, in f32 or int8.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/open_blas.h"
#include "model/ops/tensor.h"

namespace platen {

// How weights are stored and multiplied.
enum class Precision {
  kF32,          // the reference every other precision is measured against
  kF32OpenBlas,  // the products by OpenBLAS (open_blas.h): the same within rounding, not in bits
  kInt8,  // weights per output column and K-group, activations per row and K-group, quantised as
          // they arrive; sums of a group are exact
};

// "f32", "f32-openblas", "int8"
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

class Linear;

// Buffers for quantised activations; grow to the largest batch and stay. One Apply at a time.
struct LinearWorkspace {
  std::vector<int8_t> values;        // [rows, k_padded]
  std::vector<float> scales;         // [rows, groups]
  std::vector<int32_t> corrections;  // [rows, groups]
  // Sees the input of every Apply, for measurements; may be empty.
  std::function<void(const Linear& linear, ConstMatView x)> observer;
};

// Packed weights of one linear layer, and the product with any number of rows. A row of the result
// depends on its row of x alone. Immutable after Pack; Apply is thread-safe on disjoint outputs and
// workspaces and spreads over the worker pool.
class Linear {
 public:
  Linear() = default;

  // W [n, k] row-major; bias [n] or empty. With kF32OpenBlas throws Error(kEnvironment) if OpenBLAS
  // cannot be used for this shape (RequireRowIndependence).
  static Linear Pack(WeightFormat format, ConstMatView w, std::span<const float> bias);
  // Two layers of n columns each, stored so that Apply gives silu(x * gate^T + b) * (x * up^T + b).
  static Linear PackSiluMul(WeightFormat format, ConstMatView gate,
                            std::span<const float> gate_bias, ConstMatView up,
                            std::span<const float> up_bias);

  // x [rows, k] -> y [rows, n] (+= with kAddTo; not for PackSiluMul).
  enum class Mode { kStore, kAddTo };
  void Apply(const KernelTable& kernels, ConstMatView x, MatView y, LinearWorkspace& ws,
             Mode mode = Mode::kStore) const;

  int64_t columns() const { return columns_; }  // n
  int64_t depth() const { return depth_; }      // k
  size_t bytes() const;

 private:
  struct Columns;
  static Linear PackColumns(WeightFormat format, const Columns& columns);
  void PackPanelF32(const Columns& columns, int64_t panel);
  void PackPanelRows(const Columns& columns, int64_t panel);
  void PackPanelS8(const Columns& columns, int64_t panel);
  void Quantize(const KernelTable& kernels, ConstMatView x, LinearWorkspace& ws) const;
  template <class Job>
  Job PanelJob(MatView y, int64_t first_row, int64_t rows, int64_t first_panel, Mode mode) const;
  void ApplyOpenBlas(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const;

  int64_t panel_columns() const { return silu_mul_ ? kPanelColumns / 2 : kPanelColumns; }
  int64_t k_padded() const { return (depth_ + 3) / 4 * 4; }
  OpenBlasRows open_blas_rows() const;
  int64_t groups() const { return (k_padded() + group_ - 1) / group_; }

  Precision precision_ = Precision::kF32;
  int group_ = WeightFormat::kDefaultGroup;  // kInt8: K-group, never kWholeDepth
  bool silu_mul_ = false;
  int64_t columns_ = 0;
  int64_t depth_ = 0;
  int64_t num_panels_ = 0;
  Mat f32_panels_;           // kF32: [panels, k * 64]; kF32OpenBlas: [panels, 64 * k]
  Mat s8_panels_;            // kInt8: bytes [panels, k_padded * 64], kept in aligned storage
  Mat s8_scales_;            // kInt8: [panels, groups * 64]
  std::vector<float> bias_;  // [panels * 64] or empty
};

}  // namespace platen
