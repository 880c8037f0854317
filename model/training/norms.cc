#include "model/training/norms.h"

#include <cassert>
#include <cmath>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kRowsAtOnce = 32;
constexpr int64_t kColumnsAtOnce = 64;

template <class Body>
void ForChunks(int64_t n, int64_t chunk, const Body& body) {
  ParallelFor(CeilDiv(n, chunk), [&](int64_t i) { body(i * chunk, std::min((i + 1) * chunk, n)); });
}

// 1 / sqrt(mean(x^2) + eps), summed in double: rows are long.
template <class T>
T Factor(const T* x, int64_t n, T eps) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return static_cast<T>(1 / std::sqrt(sum / static_cast<double>(n) + static_cast<double>(eps)));
}

}  // namespace

template <class T>
void NormRows(ConstView<T> x, const T* weight, T eps, View<T> y) {
  assert(x.rows == y.rows && x.cols == y.cols);
  ForChunks(x.rows, kRowsAtOnce, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      const T factor = Factor(x.Row(r), x.cols, eps);
      for (int64_t i = 0; i < x.cols; ++i) y.Row(r)[i] = weight[i] * (x.Row(r)[i] * factor);
    }
  });
}

template <class T>
void NormGradient(ConstView<T> x, const T* weight, T eps, ConstView<T> dy, View<T> dx, Into into,
                  T* dweight) {
  assert(x.rows == dy.rows && x.cols == dy.cols && dx.rows == dy.rows && dx.cols == dy.cols);
  const int64_t n = x.cols;
  std::vector<T> factors(static_cast<size_t>(x.rows));
  ForChunks(x.rows, kRowsAtOnce, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      factors[static_cast<size_t>(r)] = Factor(x.Row(r), n, eps);
    }
  });
  if (dweight != nullptr) {
    ForChunks(n, kColumnsAtOnce, [&](int64_t first, int64_t end) {
      for (int64_t r = 0; r < x.rows; ++r) {
        const T factor = factors[static_cast<size_t>(r)];
        for (int64_t i = first; i < end; ++i) dweight[i] += dy.Row(r)[i] * (x.Row(r)[i] * factor);
      }
    });
  }
  ForChunks(x.rows, kRowsAtOnce, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
      const T* row = x.Row(r);
      const T* grad = dy.Row(r);
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(weight[i] * grad[i]) * static_cast<double>(row[i]);
      }
      const T factor = factors[static_cast<size_t>(r)];
      const T mean = static_cast<T>(sum / static_cast<double>(n)) * factor * factor;
      T* out = dx.Row(r);
      for (int64_t i = 0; i < n; ++i) {
        const T value = factor * (weight[i] * grad[i] - row[i] * mean);
        out[i] = into == Into::kAdd ? out[i] + value : value;
      }
    }
  });
}

#define PLATEN_INSTANTIATE(T)                                    \
  template void NormRows<T>(ConstView<T>, const T*, T, View<T>); \
  template void NormGradient<T>(ConstView<T>, const T*, T, ConstView<T>, View<T>, Into, T*);
PLATEN_INSTANTIATE(float)
PLATEN_INSTANTIATE(double)
#undef PLATEN_INSTANTIATE

}  // namespace platen
