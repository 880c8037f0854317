// Jobs of the two matrix products: C[rows, n] = A[rows, k] * W[n, k]^T, some rows and panels of it.
//
// Weights lie in panels of 64 output columns, so that a kernel reads memory from end to end. All
// panels of a product are as deep as k and lie one after another.
//
//   f32 panel [k][64]                        int8 panel [k_padded / 4][64][4]: four k side by side
//
//             column n     n+1  ...  n+63             column n        n+1        ...  n+63
//     k = 0 | w[n][0] w[n+1][0] ...       |   k 0..3 | k0 k1 k2 k3 | k0 k1 k2 k3 | ...            |
//     k = 1 | w[n][1] w[n+1][1] ...       |   k 4..7 | k4 k5 k6 k7 | k4 k5 k6 k7 | ...            |
//      ...  |        256 bytes a row      |     ...  |               256 bytes a row              |
//
// Where the epilogue is kSiluMul, columns 0 .. 31 of a panel are gate columns and 32 .. 63 their up
// columns; a panel then gives 32 output columns.
#pragma once

#include <cstddef>
#include <cstdint>

namespace platen {

constexpr int kPanelColumns = 64;

// What happens to a value of A * W^T + bias before it is stored.
enum class Epilogue {
  kStore,    // c = value
  kAdd,      // c += value (residual)
  kSiluMul,  // c = silu(gate) * up
  kRelu,     // c = value < 0 ? 0 : value; this and the next of the f32 product only
  kSilu,     // c = silu(value)
};

// Strides and columns are in floats. Nothing is owned.
struct GemmF32Job {
  const float* a = nullptr;  // [rows, k], row-major
  ptrdiff_t a_stride = 0;
  int rows = 0;
  int k = 0;
  const float* panels = nullptr;  // first panel of the job
  int num_panels = 0;
  const float* bias = nullptr;  // of the first panel's first column, 64 per panel; nullptr: none
  float* c = nullptr;           // first output column of the job
  ptrdiff_t c_stride = 0;
  int columns = 0;  // output columns of the job (the last panel may be partial)
  Epilogue epilogue = Epilogue::kStore;
};

// Along k, weights have one scale per output column and group of group_size, activations one per
// row and group. Weights are stored as u8 = s8 + 128. For every element
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
  int group_size = 0;               // a multiple of 4; the last group may be shorter
  int groups = 0;                   // ceil(k_padded / group_size)
  const uint8_t* panels = nullptr;  // 64-byte aligned
  const float* w_scales = nullptr;  // [num_panels][groups][64]
  int num_panels = 0;
  const float* bias = nullptr;  // this and the following as in GemmF32Job
  float* c = nullptr;
  ptrdiff_t c_stride = 0;
  int columns = 0;
  Epilogue epilogue = Epilogue::kStore;
};

// A schedule is an order in which the int8 product walks over its
// weights and prefetches them. All give the same bits; which is fastest differs from CPU to CPU.
struct GemmSchedule {
  const char* name = nullptr;  // for people
  int prefetch_streams = 0;    // stretches of memory that are prefetched side by side
  void (*gemm_s8)(const GemmS8Job& job) = nullptr;
};
constexpr int kMaxGemmSchedules = 3;
struct GemmSchedules {
  GemmSchedule list[kMaxGemmSchedules];
  int count = 0;
};

}  // namespace platen
