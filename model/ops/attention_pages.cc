#include "model/ops/attention_pages.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "model/ops/transpose.h"

namespace platen {
namespace {

constexpr int kMaxKeyWidth = std::max(kMaxHeadDim, kMaxLatentWidth);
constexpr int kTokensAtOnce = 64;  // at least a page of every user

// A row of the head rounded, zeros up to `padded`.
void Round(const KernelTable& kernels, const float* x, int n, int padded, uint16_t* out) {
  kernels.to_bf16(x, n, out);
  std::fill(out + n, out + padded, uint16_t{0});
}

void WriteKeysF32(const PageShape& shape, const TokenRows& rows, float* keys) {
  constexpr int64_t kFloat = sizeof(float);
  Transpose(reinterpret_cast<const std::byte*>(rows.x), rows.stride * kFloat, rows.count,
            shape.key_width, reinterpret_cast<std::byte*>(keys), shape.tokens * kFloat);
  for (int row = shape.key_width; row < shape.key_rows; ++row) {
    std::fill_n(keys + int64_t{row} * shape.tokens, rows.count, 0.0F);
  }
}

// Two rows of keys lie side by side, so pairs are what is turned.
void WriteKeysBf16(const KernelTable& kernels, const PageShape& shape, const TokenRows& rows,
                   uint16_t* keys) {
  constexpr int64_t kPair = 2 * sizeof(uint16_t);
  uint16_t together[kTokensAtOnce * kMaxKeyWidth];
  const int d = shape.key_rows;
  for (int i = 0; i < rows.count; ++i) {
    Round(kernels, rows.x + i * rows.stride, shape.key_width, d, together + i * d);
  }
  Transpose(reinterpret_cast<const std::byte*>(together), d / 2 * kPair, rows.count, d / 2,
            reinterpret_cast<std::byte*>(keys), shape.tokens * kPair);
}

// And so do the values of two tokens: the even one's first.
void WriteValueBf16(const KernelTable& kernels, const PageShape& shape, int place, const float* x,
                    uint16_t* values) {
  uint16_t rounded[kMaxHeadDim];
  Round(kernels, x, shape.value_width, shape.value_stride, rounded);
  values += int64_t{place / 2} * shape.value_stride * 2 + place % 2;
  for (int d = 0; d < shape.value_stride; ++d) values[d * 2] = rounded[d];
}

// Both of a pair; `place` is the even one's.
void WriteValuePairBf16(const KernelTable& kernels, const PageShape& shape, int place,
                        const float* x, int64_t stride, uint16_t* values) {
  uint16_t even[kMaxHeadDim], odd[kMaxHeadDim];
  Round(kernels, x, shape.value_width, shape.value_stride, even);
  Round(kernels, x + stride, shape.value_width, shape.value_stride, odd);
  values += int64_t{place} * shape.value_stride;
  for (int d = 0; d < shape.value_stride; ++d) {
    values[d * 2] = even[d];
    values[d * 2 + 1] = odd[d];
  }
}

void WriteValuesF32(const PageShape& shape, int place, const TokenRows& rows, float* values) {
  for (int i = 0; i < rows.count; ++i) {
    float* row = values + int64_t{place + i} * shape.value_stride;
    std::copy_n(rows.x + i * rows.stride, shape.value_width, row);
    std::fill(row + shape.value_width, row + shape.value_stride, 0.0F);
  }
}

void WriteValuesBf16(const KernelTable& kernels, const PageShape& shape, int place,
                     const TokenRows& rows, uint16_t* values) {
  for (int i = 0; i < rows.count;) {
    const float* x = rows.x + i * rows.stride;
    if ((place + i) % 2 == 0 && i + 1 < rows.count) {
      WriteValuePairBf16(kernels, shape, place + i, x, rows.stride, values);
      i += 2;
    } else {
      WriteValueBf16(kernels, shape, place + i, x, values);
      i += 1;
    }
  }
}

}  // namespace

void WriteKeys(const KernelTable& kernels, const PageShape& shape, int place, const TokenRows& rows,
               void* keys) {
  assert(place >= 0 && place + rows.count <= shape.tokens && shape.key_rows <= kMaxKeyWidth);
  for (int first = 0; first < rows.count; first += kTokensAtOnce) {
    const TokenRows some = {rows.x + first * rows.stride, rows.stride,
                            std::min(kTokensAtOnce, rows.count - first)};
    if (shape.type == KvType::kF32) {
      WriteKeysF32(shape, some, static_cast<float*>(keys) + place + first);
    } else {
      WriteKeysBf16(kernels, shape, some, static_cast<uint16_t*>(keys) + (place + first) * 2);
    }
  }
}

void WriteValues(const KernelTable& kernels, const PageShape& shape, int place,
                 const TokenRows& rows, void* values) {
  assert(place >= 0 && place + rows.count <= shape.tokens && shape.value_stride <= kMaxHeadDim);
  if (shape.type == KvType::kF32) {
    WriteValuesF32(shape, place, rows, static_cast<float*>(values));
  } else {
    WriteValuesBf16(kernels, shape, place, rows, static_cast<uint16_t*>(values));
  }
}

}  // namespace platen
