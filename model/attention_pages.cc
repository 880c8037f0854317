#include "model/attention_pages.h"

#include <algorithm>
#include <cassert>

#include "model/support/bf16.h"

namespace platen {
namespace {

constexpr int kTokensAtOnce = 64;  // at least a page of every user

// x [n] rounded, zeros up to `padded`.
void Round(const float* x, int n, int padded, uint16_t* out) {
  for (int i = 0; i < n; ++i) out[i] = ToBf16(x[i]);
  for (int i = n; i < padded; ++i) out[i] = 0;
}

// Rows are copied together before they are turned: where they come from they often lie a multiple
// of 4 KiB apart, and few of such lines fit the L1 cache at once. The page is then written from its
// first byte to its last.
void WriteKeysF32(const PageShape& shape, const TokenRows& rows, float* keys) {
  float together[kTokensAtOnce * kMaxHeadDim];
  const int d = shape.head_dim;
  for (int i = 0; i < rows.count; ++i) std::copy_n(rows.x + i * rows.stride, d, together + i * d);
  for (int row = 0; row < d; ++row, keys += shape.tokens) {
    for (int i = 0; i < rows.count; ++i) keys[i] = together[i * d + row];
  }
  for (int row = d; row < shape.key_rows; ++row, keys += shape.tokens) {
    std::fill_n(keys, rows.count, 0.0F);
  }
}

// Two rows of keys lie side by side.
void WriteKeysBf16(const PageShape& shape, const TokenRows& rows, uint16_t* keys) {
  uint16_t together[kTokensAtOnce * kMaxHeadDim];
  const int d = shape.key_rows;
  for (int i = 0; i < rows.count; ++i) {
    Round(rows.x + i * rows.stride, shape.head_dim, d, together + i * d);
  }
  for (int row = 0; row < d; row += 2, keys += shape.tokens * 2) {
    for (int i = 0; i < rows.count; ++i) {
      keys[i * 2] = together[i * d + row];
      keys[i * 2 + 1] = together[i * d + row + 1];
    }
  }
}

// And so do the values of two tokens: the even one's first.
void WriteValueBf16(const PageShape& shape, int place, const float* x, uint16_t* values) {
  uint16_t rounded[kMaxHeadDim];
  Round(x, shape.head_dim, shape.value_stride, rounded);
  values += int64_t{place / 2} * shape.value_stride * 2 + place % 2;
  for (int d = 0; d < shape.value_stride; ++d) values[d * 2] = rounded[d];
}

// Both of a pair; `place` is the even one's.
void WriteValuePairBf16(const PageShape& shape, int place, const float* x, int64_t stride,
                        uint16_t* values) {
  uint16_t even[kMaxHeadDim], odd[kMaxHeadDim];
  Round(x, shape.head_dim, shape.value_stride, even);
  Round(x + stride, shape.head_dim, shape.value_stride, odd);
  values += int64_t{place} * shape.value_stride;
  for (int d = 0; d < shape.value_stride; ++d) {
    values[d * 2] = even[d];
    values[d * 2 + 1] = odd[d];
  }
}

void WriteValuesF32(const PageShape& shape, int place, const TokenRows& rows, float* values) {
  for (int i = 0; i < rows.count; ++i) {
    float* row = values + int64_t{place + i} * shape.value_stride;
    std::copy_n(rows.x + i * rows.stride, shape.head_dim, row);
    std::fill(row + shape.head_dim, row + shape.value_stride, 0.0F);
  }
}

void WriteValuesBf16(const PageShape& shape, int place, const TokenRows& rows, uint16_t* values) {
  for (int i = 0; i < rows.count;) {
    const float* x = rows.x + i * rows.stride;
    if ((place + i) % 2 == 0 && i + 1 < rows.count) {
      WriteValuePairBf16(shape, place + i, x, rows.stride, values);
      i += 2;
    } else {
      WriteValueBf16(shape, place + i, x, values);
      i += 1;
    }
  }
}

}  // namespace

void WriteKeys(const PageShape& shape, int place, const TokenRows& rows, void* keys) {
  assert(place >= 0 && place + rows.count <= shape.tokens && shape.key_rows <= kMaxHeadDim);
  for (int first = 0; first < rows.count; first += kTokensAtOnce) {
    const TokenRows some = {rows.x + first * rows.stride, rows.stride,
                            std::min(kTokensAtOnce, rows.count - first)};
    if (shape.type == KvType::kF32) {
      WriteKeysF32(shape, some, static_cast<float*>(keys) + place + first);
    } else {
      WriteKeysBf16(shape, some, static_cast<uint16_t*>(keys) + (place + first) * 2);
    }
  }
}

void WriteValues(const PageShape& shape, int place, const TokenRows& rows, void* values) {
  assert(place >= 0 && place + rows.count <= shape.tokens && shape.value_stride <= kMaxHeadDim);
  if (shape.type == KvType::kF32) {
    WriteValuesF32(shape, place, rows, static_cast<float*>(values));
  } else {
    WriteValuesBf16(shape, place, rows, static_cast<uint16_t*>(values));
  }
}

}  // namespace platen
