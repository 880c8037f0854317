// The int8 product on AVX-512 VNNI: 6 rows x 4 vectors, 24 s32 accumulators in registers.
// Everything else of this table is the avx512 file's.
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "model/kernels/kernels.h"

namespace platen {
namespace {

#include "model/kernels/lanes_avx512.inc"
//
#include "model/kernels/unroll.inc"

// No other file's inline code: the epilogue of the float kernels, for this file.
#include "model/kernels/finish_row.inc"

constexpr int kRows = 6;

// "Changed here", without emitting code: GCC 12 otherwise spills the accumulators of a loop whose
// trip count it knows, at half the speed.
PLATEN_INLINE void Pin(__m512i& v) { asm("" : "+v"(v)); }

struct Block {
  const int8_t* a;
  ptrdiff_t a_stride;
  const float* a_scales;         // [rows, groups]
  const int32_t* a_corrections;  // [rows, groups]
};

// value[MR][64] of one panel, all groups.
template <int MR>
[[gnu::noinline]] void MultiplyPanel(const GemmS8Job& job, const Block& block, const uint8_t* panel,
                                     const float* w_scales, float* value) {
  for (int g = 0; g < job.groups; ++g) {
    const int begin = g * job.group_k;
    const int end = begin + job.group_k < job.k_padded ? begin + job.group_k : job.k_padded;
    const int8_t* a = block.a + begin;
    const uint8_t* w = panel + static_cast<ptrdiff_t>(begin) * kPanelColumns;
    __m512i acc[MR][4];
    // Starting at -128 * sum(a) takes back the 128 that is added to every weight.
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const __m512i start = _mm512_set1_epi32(block.a_corrections[r * job.groups + g]);
      Unroll<4>([&](auto v) __attribute__((always_inline)) { acc[r][v] = start; });
    });
    for (int k4 = (end - begin) / 4; k4 > 0; --k4, w += 4 * kPanelColumns, a += 4) {
      __m512i b[4];
      Unroll<4>([&](auto v)
                    __attribute__((always_inline)) { b[v] = _mm512_loadu_si512(w + 64 * v); });
      _mm_prefetch(reinterpret_cast<const char*>(w + 2048), _MM_HINT_T0);
      Unroll<MR>([&](auto r) __attribute__((always_inline)) {
        int32_t four;
        __builtin_memcpy(&four, a + r * block.a_stride, sizeof(four));
        const __m512i x = _mm512_set1_epi32(four);
        Unroll<4>([&](auto v) __attribute__((always_inline)) {
          acc[r][v] = _mm512_dpbusd_epi32(acc[r][v], b[v], x);
          Pin(acc[r][v]);
        });
      });
    }
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const F32x16 a_scale = Set1(block.a_scales[r * job.groups + g]);
      Unroll<4>([&](auto v) __attribute__((always_inline)) {
        float* out = value + r * kPanelColumns + v * 16;
        const F32x16 scale = Mul(a_scale, Load(w_scales + g * kPanelColumns + v * 16));
        const F32x16 old = g == 0 ? Set1(0.0F) : Load(out);
        Store(Fma(F32x16{_mm512_cvtepi32_ps(acc[r][v])}, scale, old), out);
      });
    });
  }
}

template <int MR = kRows>
PLATEN_INLINE void MultiplyPanelRows(int rows, const GemmS8Job& job, const Block& block,
                                     const uint8_t* panel, const float* w_scales, float* value) {
  if (rows == MR) {
    MultiplyPanel<MR>(job, block, panel, w_scales, value);
  } else if constexpr (MR > 1) {
    MultiplyPanelRows<MR - 1>(rows, job, block, panel, w_scales, value);
  }
}

void GemmS8(const GemmS8Job& job) {
  alignas(64) float tile[kRows * kPanelColumns];
  const int panel_columns = job.epilogue == Epilogue::kSiluMul ? kPanelColumns / 2 : kPanelColumns;
  const int blocks = (job.rows + kRows - 1) / kRows;
  for (int p = 0; p < job.num_panels; ++p) {
    const uint8_t* panel = job.panels + static_cast<ptrdiff_t>(p) * job.k_padded * kPanelColumns;
    const float* scales = job.w_scales + static_cast<ptrdiff_t>(p) * job.groups * kPanelColumns;
    const float* bias = job.bias == nullptr ? nullptr : job.bias + p * kPanelColumns;
    const int left = job.columns - p * panel_columns;
    const int columns = left < panel_columns ? left : panel_columns;
    for (int i = 0; i < blocks; ++i) {
      const int first = static_cast<int>(static_cast<long>(job.rows) * i / blocks);
      const int rows = static_cast<int>(static_cast<long>(job.rows) * (i + 1) / blocks) - first;
      float* c = job.c + first * job.c_stride + p * panel_columns;
      for (int r = 0; r < rows; ++r) {
        _mm_prefetch(reinterpret_cast<const char*>(c + r * job.c_stride), _MM_HINT_T0);
      }
      const Block block = {job.a + first * job.a_stride, job.a_stride,
                           job.a_scales + static_cast<ptrdiff_t>(first) * job.groups,
                           job.a_corrections + static_cast<ptrdiff_t>(first) * job.groups};
      MultiplyPanelRows<>(rows, job, block, panel, scales, tile);
      for (int r = 0; r < rows; ++r) {
        FinishRow(tile + r * kPanelColumns, bias, job.epilogue, columns, c + r * job.c_stride);
      }
    }
  }
}

}  // namespace

extern const KernelTable kAvx512Kernels;

KernelTable MakeAvx512VnniKernels() {
  KernelTable table = kAvx512Kernels;
  table.name = "avx512-vnni";
  table.gemm_s8 = GemmS8;
  return table;
}

}  // namespace platen
