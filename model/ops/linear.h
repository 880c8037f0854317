// y = x * W^T + b with weights packed once for the kernels.
#pragma once

#include <span>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"

namespace platen {

// Packed weights of one linear layer, and the product with any number of rows. A row of the result
// depends on its row of x alone. Immutable after Pack; Apply is thread-safe on disjoint outputs and
// spreads over the worker pool.
class Linear {
 public:
  Linear() = default;

  // W [n, k] row-major; bias [n] or empty.
  static Linear Pack(ConstMatView w, std::span<const float> bias);
  // Two layers of n columns each, stored so that Apply gives silu(x * gate^T + b) * (x * up^T + b).
  static Linear PackSiluMul(ConstMatView gate, std::span<const float> gate_bias, ConstMatView up,
                            std::span<const float> up_bias);

  // x [rows, k] -> y [rows, n] (+= where `add_to` is set; not for PackSiluMul).
  enum class Mode { kStore, kAddTo };
  void Apply(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode = Mode::kStore) const;

  int64_t columns() const { return columns_; }  // n
  int64_t depth() const { return depth_; }      // k
  size_t bytes() const { return panels_.capacity_bytes(); }

 private:
  int64_t num_panels() const { return panels_.rows(); }

  Mat panels_;               // [panels][k * 64]
  std::vector<float> bias_;  // [panels * 64] or empty
  int64_t columns_ = 0;
  int64_t depth_ = 0;
  bool silu_mul_ = false;
};

}  // namespace platen
