// Inner loops, one table of functions per instruction set.
//
// Every float result is defined on 16 virtual lanes with fused multiply-add, one fixed reduction
// tree and our own exp, so that all tables give the same bits: generic/ is compiled once per
// instruction set over a vector type of 16 lanes (generic/lanes.h). The scalar table is the
// definition, the others are faster.
//
// A row's result never depends on the rows beside it: sums run over k ascending, one lane per
// output column, whatever the number of rows in the call.
//
// Kernels know no model and no threads; pointers are not owned; buffers may be unaligned unless
// said otherwise. All functions are thread-safe on disjoint outputs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/kernels/attention_int8_job.h"
#include "model/kernels/attention_job.h"
#include "model/kernels/gemm_job.h"

namespace platen {

constexpr int kLanes = 16;  // virtual lanes of every reduction

// Largest value, lowest index on ties, and the probability of that index under softmax.
struct Selection {
  int32_t index = 0;
  float probability = 0;
};

// A value: copy it to change which schedule is in use (gemm_schedule.h).
struct KernelTable {
  const char* name;

  void (*gemm_f32)(const GemmF32Job& job);
  void (*gemm_s8)(const GemmS8Job& job);  // of the schedule in use

  void (*attention)(const AttentionJob& job);
  // The same bits as attention for each of the heads, reading memory from end to end.
  void (*attention_heads)(const AttentionHeadsJob& job);
  // Attention whose values are the first values of the keys.
  void (*attention_latent)(const LatentAttentionJob& job);
  // Attention in exact integers, of rows and values quantised by the three functions that follow.
  void (*attention_int8)(const AttentionInt8Job& job);
  // Multiplies a row of n values by the Hadamard matrix, in place; nothing where n is no power of
  // two. Stages of distance 1, 2, 4, ...: (a, b) becomes (a + b, a - b).
  void (*hadamard)(float* x, int n);
  void (*quantize_values)(const Int8ValuesJob& job);

  // Quantises one row of k floats: per group of group_size, scale = absmax / 127 and
  // q = round-to-even(x * (127 / absmax)). Writes k_padded values of q (padding 0), and the scale
  // and correction (-128 * sum of q) of every group. A NaN or infinity makes the group's scale NaN
  // and its q 0; so are all q of a group below 1e-30.
  void (*quantize_row)(const float* x, int k, int k_padded, int group_size, int8_t* q,
                       float* scales, int32_t* corrections);

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
  // the sine negative at even indices.
  void (*rope_adjacent)(const float* cos, const float* signed_sin, int n, float* x);
  // Rotation of pairs (i, i + n / 2) by angle i; cos, sin [n / 2]. In place.
  void (*rope_half)(const float* cos, const float* sin, int n, float* x);
  // Selection over n logits (n >= 1). NaN logits give index -1.
  Selection (*select)(const float* logits, int n);

  GemmSchedules schedules;  // of gemm_s8; none where there is no choice
  int schedule;             // the one in use
  // attention_heads is faster than head by head with several pages at a time: one stream of memory
  // is read faster than four.
  bool heads_together;
};

// All tables there are, best first.
constexpr const char* kKernelNames[] = {"amx",    "avx512-vnni", "avx-vnni",
                                        "avx512", "avx2",        "scalar"};

// The first of them that this process can run. The first schedule of a table is in use; which is
// fastest is not measured (WithFastestSchedule).
const KernelTable& BestKernels();
// The table of that name, ready to run: for "amx" the process gets permission to use the tile
// registers. nullptr if there is no such table, or this CPU or process cannot run it.
const KernelTable* FindKernels(const char* name);

}  // namespace platen
