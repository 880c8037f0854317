// The int8 product on AVX-VNNI, the 256-bit form that CPUs without AVX-512 have: 6 rows x 16
// columns, 12 s32 accumulators in registers. Everything else of this table is the avx2 file's.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention_int8.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"
#include "model/kernels/x86/prefetch_streams.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

// acc += w * a, w unsigned. In assembly: the instruction itself, and accumulators that GCC 12
// cannot spill.
PLATEN_INLINE void Dot(__m256i& acc, __m256i w, __m256i a) {
  asm("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(w), "x"(a));
}

// dots[MR][16 columns] for one slice of 16 columns of a panel.
template <int MR>
[[gnu::noinline]] void VnniColumns(const int8_t* a, ptrdiff_t a_stride, const int32_t* corrections,
                                   int correction_stride, const uint8_t* slice, int k4,
                                   const PrefetchCursor& cursor, int32_t* dots) {
  __m256i acc[MR][2];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    acc[r][0] = acc[r][1] = _mm256_set1_epi32(corrections[r * correction_stride]);
  });
  ForFoursOfK(
      k4, cursor, [&](int i) __attribute__((always_inline)) {
        const auto* w =
            reinterpret_cast<const __m256i*>(slice + static_cast<ptrdiff_t>(i) * kPanelColumns * 4);
        const __m256i w0 = _mm256_loadu_si256(w);
        const __m256i w1 = _mm256_loadu_si256(w + 1);
        Unroll<MR>([&](auto r) __attribute__((always_inline)) {
          int32_t four;
          __builtin_memcpy(&four, a + r * a_stride + i * 4, sizeof(four));
          const __m256i x = _mm256_set1_epi32(four);
          Dot(acc[r][0], w0, x);
          Dot(acc[r][1], w1, x);
        });
      });
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    auto* out = reinterpret_cast<__m256i*>(dots + r * kPanelColumns);
    _mm256_store_si256(out, acc[r][0]);
    _mm256_store_si256(out + 1, acc[r][1]);
  });
}

// sums[MR][16 channels] of a block of values (generic/attention_int8.h).
template <int MR>
[[gnu::noinline]] void VnniValues(const uint8_t* p, const int8_t* slice, ptrdiff_t stride, int keys,
                                  int32_t* sums) {
  __m256i acc[MR][2];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    acc[r][0] = acc[r][1] = _mm256_setzero_si256();
  });
  for (int j = 0; j < keys; j += 4, slice += stride * 4) {
    const auto* v = reinterpret_cast<const __m256i*>(slice);
    const __m256i v0 = _mm256_loadu_si256(v);
    const __m256i v1 = _mm256_loadu_si256(v + 1);
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      int32_t four;
      __builtin_memcpy(&four, p + r * kKeySplit + j, sizeof(four));
      const __m256i x = _mm256_set1_epi32(four);
      Dot(acc[r][0], x, v0);
      Dot(acc[r][1], x, v1);
    });
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    auto* out = reinterpret_cast<__m256i*>(sums + r * kPanelColumns);
    _mm256_store_si256(out, acc[r][0]);
    _mm256_store_si256(out + 1, acc[r][1]);
  });
}

struct VnniDotProduct {
  static constexpr int kRows = 6;

  // Sums of one group (generic/gemm_s8.h). As many weights that follow in memory are prefetched.
  PLATEN_INLINE static void Group(int rows, const int8_t* a, ptrdiff_t a_stride,
                                  const int32_t* corrections, int correction_stride,
                                  const uint8_t* panel, int k4, int prefetch_streams,
                                  int32_t* dots) {
    for (int n = 0; n < kPanelColumns; n += 16) {
      const PrefetchCursor cursor = CursorOf(prefetch_streams, panel, 4 * k4, n / 16);
      WithIndex<kRows>(
          rows, [&](auto count) __attribute__((always_inline)) {
            VnniColumns<count>(a, a_stride, corrections, correction_stride, panel + n * 4, k4,
                               cursor, dots + n);
          });
    }
  }

  PLATEN_INLINE static void Values(int rows, const uint8_t* p, const int8_t* values, int stride,
                                   int keys, int columns, int32_t* sums) {
    for (int n = 0; n < columns; n += 16) {
      WithIndex<kRows>(
          rows, [&](auto count) __attribute__((always_inline)) {
            VnniValues<count>(p, values + n * 4, stride, keys, sums + n);
          });
    }
  }
};

}  // namespace
}  // namespace PLATEN_ISA

constexpr GemmSchedules kAvxVnniSchedules =
    PLATEN_ISA::kPrefetchSchedules<PLATEN_ISA::VnniDotProduct>;

void AttentionInt8AvxVnni(const AttentionInt8Job& job) {
  PLATEN_ISA::AttentionInt8<PLATEN_ISA::SummedProducts<PLATEN_ISA::VnniDotProduct>>(job);
}

}  // namespace platen
