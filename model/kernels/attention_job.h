// Jobs of attention: softmax(scale * q k) v of some query rows over the keys of one head or of
// several, or over latents, which are keys and values at once.
//
// Keys and values lie in pages of page_tokens = T tokens, of one head with d = head_dim values:
//
//   K page, kF32: [d][T]                       V page, kF32: [T][v_stride]
//
//             token 0   1  ...  T-1                      value 0   1  ...  d-1  zeros
//     dim 0 |    k[0] k[0]  ... k[0] |         token 0 |    v[0] v[1]  ... v[d-1] 0 |
//     dim 1 |    k[1] k[1]  ... k[1] |         token 1 |    v[0] v[1]  ... v[d-1] 0 |
//
//   K page, kBf16: [d / 2][T][2]               V page, kBf16: [T / 2][v_stride][2]
//
//              token 0      token 1                         value 0        value 1
//   dims 0, 1 | k[0] k[1] | k[0] k[1] | ...    tokens 0, 1 | v[0]  v[0] | v[1]  v[1] | ...
//   dims 2, 3 | k[2] k[3] | k[2] k[3] | ...                  of 0  of 1   of 0  of 1
//
// So a vector of 16 lanes is 16 tokens of one dimension of the keys, and 16 values of one token.
#pragma once

#include <cstddef>
#include <cstdint>

namespace platen {

constexpr int kMaxHeadDim = 256;
constexpr int kKeySplit = 256;        // keys per step of the online softmax, at absolute multiples
constexpr int kMaxHeadRows = 64;      // query rows of an AttentionHeadsJob, of all heads together
constexpr int kMaxLatentWidth = 576;  // values of a latent key

// Type of keys and values. kBf16 is widened exactly; everything else stays f32.
enum class KvType { kF32, kBf16 };

constexpr float kLeastBf16 = 0x1p-40F;  // smaller magnitudes become 0 (model/support/bf16.h)

// Nothing is owned.
struct AttentionJob {
  KvType type = KvType::kF32;
  const void* const* k_pages = nullptr;  // page p holds keys p * page_tokens ...
  const void* const* v_pages = nullptr;
  int page_tokens = 0;  // a multiple of 16 that divides kKeySplit
  int head_dim = 0;     // <= kMaxHeadDim; even for kBf16
  int v_stride = 0;     // head_dim rounded up to 16
  int rows = 0;
  const float* const* q = nullptr;   // [rows] pointers to query vectors
  float scale = 1.0F;                // of the scores
  const int32_t* context = nullptr;  // [rows] number of keys each row sees, >= 1
  float* const* out = nullptr;       // [rows] pointers to head_dim results

  // Where rows share only their first keys: from shared_keys on, a multiple of kKeySplit, keys lie
  // in pages of a row's own, of which page p holds keys shared_keys + p * page_tokens ...
  int shared_keys = 0;
  const void* const* const* own_k_pages = nullptr;  // [rows] lists of pages; nullptr: all share all
  const void* const* const* own_v_pages = nullptr;
};

// A few query rows over each of several heads whose pages lie side by side. In `first` the pages
// are the first head's; rows are those of one head and share all keys; q, context and out are
// [heads][rows].
struct AttentionHeadsJob {
  AttentionJob first;
  int heads = 0;               // heads * rows <= kMaxHeadRows
  ptrdiff_t k_head_bytes = 0;  // from a head's page of keys to the next head's
  ptrdiff_t v_head_bytes = 0;
};

// What is read behind a job, to be fetched into the L2 cache while it computes, as far as it has
// time for that. Nothing of it is used.
struct ReadNext {
  const void* const* pages = nullptr;  // of the next job, the first first
  int num_pages = 0;
  const std::byte* bytes = nullptr;  // other memory, of any content
  ptrdiff_t num_bytes = 0;
};

// Query rows over latents (multi-head latent attention): the value of a token is the first
// value_width values of its key, so pages of keys are all there is. Any number of rows, of any
// heads: all heads share the latents.
struct LatentAttentionJob {
  KvType type = KvType::kF32;
  const void* const* pages = nullptr;  // of keys, as above
  int page_tokens = 0;
  int key_width = 0;    // <= kMaxLatentWidth; even for kBf16
  int value_width = 0;  // <= key_width
  int rows = 0;
  const float* const* q = nullptr;   // [rows] pointers to key_width values
  float scale = 1.0F;                // of the scores
  const int32_t* context = nullptr;  // [rows] number of keys each row sees, >= 1
  float* const* out = nullptr;       // [rows] pointers to value_width results
  ReadNext next;
};

}  // namespace platen
