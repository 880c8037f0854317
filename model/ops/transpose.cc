#include "model/ops/transpose.h"

#include <cstring>

namespace platen {
namespace {

// Values of 4 bytes, one or four, wherever they lie.
using Four = uint32_t __attribute__((vector_size(16)));
template <class T>
T LoadAs(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
template <class T>
void StoreAs(T v, std::byte* p) {
  std::memcpy(p, &v, sizeof(v));
}

// Rows and columns 4 x 4; strides in bytes.
void Transpose4x4(const std::byte* x, int64_t x_stride, std::byte* out, int64_t out_stride) {
  const auto r0 = LoadAs<Four>(x), r1 = LoadAs<Four>(x + x_stride);
  const auto r2 = LoadAs<Four>(x + 2 * x_stride), r3 = LoadAs<Four>(x + 3 * x_stride);
  const Four low01 = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Four low23 = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Four high01 = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Four high23 = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  StoreAs<Four>(__builtin_shufflevector(low01, low23, 0, 1, 4, 5), out);
  StoreAs<Four>(__builtin_shufflevector(low01, low23, 2, 3, 6, 7), out + out_stride);
  StoreAs<Four>(__builtin_shufflevector(high01, high23, 0, 1, 4, 5), out + 2 * out_stride);
  StoreAs<Four>(__builtin_shufflevector(high01, high23, 2, 3, 6, 7), out + 3 * out_stride);
}

}  // namespace

void Transpose(const std::byte* x, int64_t x_stride, int rows, int columns, std::byte* out,
               int64_t out_stride) {
  const int whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int i = 0; i < whole_rows; i += 4) {
    for (int d = 0; d < whole_columns; d += 4) {
      Transpose4x4(x + i * x_stride + d * 4, x_stride, out + d * out_stride + i * 4, out_stride);
    }
  }
  for (int i = 0; i < rows; ++i) {
    for (int d = i < whole_rows ? whole_columns : 0; d < columns; ++d) {
      StoreAs(LoadAs<uint32_t>(x + i * x_stride + d * 4), out + d * out_stride + i * 4);
    }
  }
}

}  // namespace platen
