#include "model/ops/norm.h"

#include <algorithm>

#include "model/ops/parallel.h"

namespace platen {
namespace {

// Rows per task: a few microseconds of work each.
constexpr int64_t kRowsPerTask = 32;

template <class F>
void ForRows(int64_t rows, const F& body) {
  const int64_t tasks = (rows + kRowsPerTask - 1) / kRowsPerTask;
  ParallelFor(tasks, [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * kRowsPerTask);
    for (int64_t r = task * kRowsPerTask; r < end; ++r) body(r);
  });
}

}  // namespace

void RmsNormRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                 float eps, MatView y) {
  const int n = static_cast<int>(x.cols);
  ForRows(x.rows, [&](int64_t r) { kernels.rms_norm(x.Row(r), weight.data(), eps, n, y.Row(r)); });
}

void AddRmsNormRows(const KernelTable& kernels, MatView branch, std::span<const float> weight,
                    float eps, MatView x) {
  const int n = static_cast<int>(x.cols);
  ForRows(x.rows, [&](int64_t r) {
    kernels.rms_norm(branch.Row(r), weight.data(), eps, n, branch.Row(r));
    kernels.add(branch.Row(r), static_cast<size_t>(n), x.Row(r));
  });
}

void LayerNormRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                   std::span<const float> bias, float eps, MatView y) {
  const int n = static_cast<int>(x.cols);
  ForRows(x.rows, [&](int64_t r) {
    kernels.layer_norm(x.Row(r), weight.data(), bias.data(), eps, n, y.Row(r));
  });
}

void GeluRows(const KernelTable& kernels, MatView x) {
  ForRows(x.rows, [&](int64_t r) { kernels.gelu(x.Row(r), static_cast<size_t>(x.cols)); });
}

void LayerNormGeluRows(const KernelTable& kernels, ConstMatView x, std::span<const float> weight,
                       std::span<const float> bias, float eps, MatView y) {
  const int n = static_cast<int>(x.cols);
  ForRows(x.rows, [&](int64_t r) {
    kernels.layer_norm(x.Row(r), weight.data(), bias.data(), eps, n, y.Row(r));
    kernels.gelu(y.Row(r), static_cast<size_t>(n));
  });
}

}  // namespace platen
