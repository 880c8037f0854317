#include "model/attention_pages.h"

#include <algorithm>
#include <cassert>

#include "model/support/bf16.h"

namespace platen {
namespace {

void WriteF32(const PageShape& shape, int place, const float* key, const float* value, float* keys,
              float* values) {
  keys += place;
  for (int d = 0; d < shape.head_dim; ++d) keys[int64_t{d} * shape.tokens] = key[d];
  for (int d = shape.head_dim; d < shape.key_rows; ++d) keys[int64_t{d} * shape.tokens] = 0.0F;
  values += int64_t{place} * shape.value_stride;
  std::copy_n(value, shape.head_dim, values);
  std::fill(values + shape.head_dim, values + shape.value_stride, 0.0F);
}

// x [n] rounded, zeros up to `padded`.
void Round(const float* x, int n, int padded, uint16_t* out) {
  for (int i = 0; i < n; ++i) out[i] = ToBf16(x[i]);
  for (int i = n; i < padded; ++i) out[i] = 0;
}

// Two rows of keys lie side by side, and so do the values of two tokens.
void WriteBf16(const PageShape& shape, int place, const float* key, const float* value,
               uint16_t* keys, uint16_t* values) {
  uint16_t rounded[kMaxHeadDim];
  Round(key, shape.head_dim, shape.key_rows, rounded);
  keys += place * 2;
  for (int d = 0; d < shape.key_rows; d += 2, keys += shape.tokens * 2) {
    keys[0] = rounded[d];
    keys[1] = rounded[d + 1];
  }
  Round(value, shape.head_dim, shape.value_stride, rounded);
  values += int64_t{place / 2} * shape.value_stride * 2 + place % 2;
  for (int d = 0; d < shape.value_stride; ++d) values[d * 2] = rounded[d];
}

}  // namespace

void WriteToken(const PageShape& shape, int place, const float* key, const float* value, void* keys,
                void* values) {
  assert(place >= 0 && place < shape.tokens);
  assert(shape.key_rows <= kMaxHeadDim && shape.value_stride <= kMaxHeadDim);
  if (shape.type == KvType::kF32) {
    WriteF32(shape, place, key, value, static_cast<float*>(keys), static_cast<float*>(values));
  } else {
    WriteBf16(shape, place, key, value, static_cast<uint16_t*>(keys),
              static_cast<uint16_t*>(values));
  }
}

}  // namespace platen
