// Inner loops, one table of functions per instruction set.
//
// Every float result is defined on 16 virtual lanes with fused multiply-add, one fixed reduction
// tree and our own exp, so that all tables give the same bits: kernel_body.inc is compiled once per
// instruction set over a 16-lane vector type. Scalar is the meaning; the others are faster.
//
// A row's result never depends on the rows beside it: sums run over k ascending, one lane per
// output column, whatever the number of rows in the call.
//
// Kernels know no model and no threads; pointers are not owned; buffers may be unaligned unless
// said otherwise. All functions are thread-safe on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace platen {

constexpr int kLanes = 16;         // virtual lanes of every reduction
constexpr int kPanelColumns = 64;  // output columns per panel of packed weights
constexpr int kMaxHeadDim = 256;   // of attention kernels
constexpr int kKeySplit = 256;     // keys per online-softmax step, at absolute multiples
constexpr int kMaxHeadRows = 64;   // query rows of a job of several heads, of all heads together

// What happens to a tile of A * W^T + bias before it is stored.
enum class Epilogue {
  kStore,    // c = value
  kAdd,      // c += value (residual)
  kSiluMul,  // panels hold 32 gate columns and their 32 up columns: c[32 columns] = silu(gate) * up
};

// One job: rows x panels of C[rows, n] = A[rows, k] * W[n, k]^T.
struct GemmF32Job {
  const float* a = nullptr;  // [rows, k], row-major
  ptrdiff_t a_stride = 0;    // floats
  int rows = 0;
  int k = 0;
  const float* panels = nullptr;  // first panel of the job: panels of [k][64], one after another
  int num_panels = 0;
  const float* bias = nullptr;  // of the first panel's first column, 64 per panel; nullptr: none
  float* c = nullptr;           // first output column of the job
  ptrdiff_t c_stride = 0;       // floats
  int columns = 0;              // output columns of the job (the last panel may be partial)
  Epilogue epilogue = Epilogue::kStore;
};

// One job of the int8 product. Weights are s8 per output column and K-group, stored as u8 = s8 ^
// 0x80 in fours of k: panel [k_padded / 4][64][4]; activations s8 per row and K-group. For every
// element
//   dot_g = sum over the group of a * w, exact in s32;  value = fma(float(dot_g), s_a * s_w,
//   value),
// groups ascending from value = 0. k_padded is k rounded up to 4; padding activations are 0.
struct GemmS8Job {
  const int8_t* a = nullptr;               // [rows, k_padded]
  ptrdiff_t a_stride = 0;                  // bytes
  const float* a_scales = nullptr;         // [rows, groups]
  const int32_t* a_corrections = nullptr;  // [rows, groups]: -128 * sum of the group's a
  int rows = 0;
  int k_padded = 0;
  int group_k = 0;                  // a multiple of 4; the last group may be shorter
  int groups = 0;                   // ceil(k_padded / group_k)
  const uint8_t* panels = nullptr;  // panels one after another, 64-byte aligned
  const float* w_scales = nullptr;  // [num_panels][groups][64]
  int num_panels = 0;
  const float* bias = nullptr;  // as in GemmF32Job, and the following too
  float* c = nullptr;
  ptrdiff_t c_stride = 0;
  int columns = 0;
  Epilogue epilogue = Epilogue::kStore;
};

// Attention of query rows over the keys of one head: softmax(scale * q k) v, online softmax over
// blocks of kKeySplit keys.
// Keys and values lie in pages of page_tokens. kF32: K page [head_dim][page_tokens], V page
// [page_tokens][v_stride]. kBf16 (widened exactly, everything else stays f32): two rows side by
// side, K page [head_dim / 2][page_tokens][2], V page [page_tokens / 2][v_stride][2].
enum class KvType { kF32, kBf16 };
constexpr float kLeastBf16 = 0x1p-40F;  // smaller magnitudes are 0 in attention_bf16*
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
};

// Attention of a few query rows over each of several heads whose pages lie side by side. In `first`
// the pages are the first head's; rows are those of one head; q, context and out are [heads][rows].
struct AttentionHeadsJob {
  AttentionJob first;
  int heads = 0;               // heads * rows <= kMaxHeadRows
  ptrdiff_t k_head_bytes = 0;  // from a head's page of keys to the next head's
  ptrdiff_t v_head_bytes = 0;
};

// Largest value, lowest index on ties, and the probability of that index under softmax.
struct Selection {
  int32_t index = 0;
  float probability = 0;
};

// An order of work of the int8 product: which weights are multiplied and fetched when. Orders give
// the same bits; how fast they are differs from CPU to CPU.
struct S8Order {
  const char* name = nullptr;  // in words
  bool one_stream = false;     // memory is read at one place
  void (*gemm_s8)(const GemmS8Job& job) = nullptr;
};
constexpr int kMaxS8Orders = 2;

struct KernelTable {
  const char* name;

  void (*gemm_f32)(const GemmF32Job& job);
  void (*gemm_s8)(const GemmS8Job& job);
  void (*attention)(const AttentionJob& job);
  // The same bits as attention for each of the heads, reading memory from end to end.
  void (*attention_heads)(const AttentionHeadsJob& job);
  // attention with both products on bf16 values, an option of the run: other numbers, the same bits
  // in every table. Type kBf16, no value between 0 and 2^-40 in magnitude, pages of 64 keys, every
  // row sees the same keys, and zeros fill the last page and the head up to v_stride, a multiple of
  // 32: K page [v_stride / 2][64][2]. Meaning: attention_bf16.inc.
  void (*attention_bf16)(const AttentionJob& job);
  // A third kind, under the same conditions. Meaning: attention_bf16_dot.inc.
  void (*attention_bf16_dot)(const AttentionJob& job);

  // Quantises one row of k floats: per group of group_k, scale = absmax / 127 and
  // q = round-to-even(x * (127 / absmax)). Writes k_padded values of q (padding 0), and the scale
  // and correction (-128 * sum of q) of every group. A NaN or infinity makes the group's scale NaN
  // and its q 0; so are all q of a group below 1e-30.
  void (*quantize_row)(const float* x, int k, int k_padded, int group_k, int8_t* q, float* scales,
                       int32_t* corrections);

  // out[i] = x[i] as bf16, by the rule of model/support/bf16.h.
  void (*to_bf16)(const float* x, int n, uint16_t* out);

  // y = (x * rsqrt(mean(x^2) + eps)) * weight. In place allowed.
  void (*rms_norm)(const float* x, const float* weight, float eps, int n, float* y);
  // y = (x - mean) * rsqrt(var + eps) * weight + bias. In place allowed.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float eps, int n,
                     float* y);
  // Exact (erf) GELU, in place.
  void (*gelu)(float* x, size_t n);
  // x += y
  void (*add)(const float* y, size_t n, float* x);
  // Rotation of pairs (2i, 2i + 1) by angle i, in place. cos, signed_sin [n]: every value twice,
  // the sine negative at even places.
  void (*rope_adjacent)(const float* cos, const float* signed_sin, int n, float* x);
  // Rotation of pairs (i, i + n / 2) by angle i; cos, sin [n / 2]. In place.
  void (*rope_half)(const float* cos, const float* sin, int n, float* x);
  // Selection over n logits (n >= 1). NaN logits give index -1.
  Selection (*select)(const float* logits, int n);

  // Where there are several orders: all of them, the one that was the faster at the start first. It
  // is gemm_s8's, for what AMX does not take up.
  S8Order s8_orders[kMaxS8Orders];
  // attention_heads is faster than head by head with several pages at a time: memory is read faster
  // at one place than at four.
  bool heads_together;
};

// All tables there are, best first.
constexpr const char* kKernelNames[] = {"amx",    "avx512-vnni", "avx-vnni",
                                        "avx512", "avx2",        "scalar"};

// The first of them that this CPU can run.
const KernelTable& BestKernels();
// The table of that name; nullptr if there is none or this CPU cannot run it.
const KernelTable* FindKernels(const char* name);

}  // namespace platen
