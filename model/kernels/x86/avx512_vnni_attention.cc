// Attention in exact integers on AVX-512 VNNI: 6 rows x 4 vectors of keys or of channels, 24 s32
// sums in registers, as in the int8 product. The softmax between the products is
// generic/attention_int8.h.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/attention_int8.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

// acc += u8 * s8. In assembly, because GCC 12 spills the accumulators of the intrinsic's loop.
PLATEN_INLINE void Dot(__m512i& acc, __m512i unsigned_bytes, __m512i signed_bytes) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(unsigned_bytes), "v"(signed_bytes));
}

PLATEN_INLINE __m512i BroadcastFour(const void* p) {
  int32_t four;
  __builtin_memcpy(&four, p, sizeof(four));
  return _mm512_set1_epi32(four);
}

// t[MR][16 NV keys] and their largest.
template <int MR, int NV>
[[gnu::noinline]] void ScoreKeys(const Int8Block& block, const uint8_t* keys, const float* scales,
                                 float* t, float* top) {
  const ptrdiff_t depth = block.depth;
  const int8_t* q = block.q;
  __m512i acc[MR][NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    const __m512i start = _mm512_set1_epi32(block.q_corrections[r]);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { acc[r][v] = start; });
  });
  for (ptrdiff_t d = 0; d < depth; d += 4, q += 4, keys += 4 * kInt8PageTokens) {
    __m512i k[NV];
    Unroll<NV>([&](auto v)
                   __attribute__((always_inline)) { k[v] = _mm512_loadu_si512(keys + 64 * v); });
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const __m512i four = BroadcastFour(q + r * depth);
      Unroll<NV>([&](auto v) __attribute__((always_inline)) { Dot(acc[r][v], k[v], four); });
    });
  }
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    __m512 largest = _mm512_load_ps(top + r * 16);
    Unroll<NV>([&](auto v) __attribute__((always_inline)) {
      const __m512 x =
          _mm512_mul_ps(_mm512_cvtepi32_ps(acc[r][v]), _mm512_loadu_ps(scales + v * 16));
      _mm512_store_ps(t + r * kKeySplit + v * 16, x);
      largest = _mm512_max_ps(largest, x);
    });
    _mm512_store_ps(top + r * 16, largest);
  });
}

// out[MR][16 NV channels] = out * older + (sums * value scale + L * mean) * newer.
template <int MR, int NV>
[[gnu::noinline]] void WeighChannels(const Int8Block& block, const Int8Softmax& s, int channel,
                                     float* out) {
  const ptrdiff_t step = static_cast<ptrdiff_t>(block.stride) * 4;
  const int8_t* values = block.v + channel * 4;
  const uint8_t* p = s.p;
  __m512i acc[MR][NV];
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    Unroll<NV>([&](auto v) __attribute__((always_inline)) { acc[r][v] = _mm512_setzero_si512(); });
  });
  for (int key = 0; key < block.keys; key += 4, p += 4, values += step) {
    __m512i x[NV];
    Unroll<NV>([&](auto v)
                   __attribute__((always_inline)) { x[v] = _mm512_loadu_si512(values + 64 * v); });
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const __m512i four = BroadcastFour(p + r * kKeySplit);
      Unroll<NV>([&](auto v) __attribute__((always_inline)) { Dot(acc[r][v], four, x[v]); });
    });
  }
  Unroll<NV>([&](auto v) __attribute__((always_inline)) {
    const __m512 scale = _mm512_loadu_ps(block.v_scales + channel + v * 16);
    const __m512 mean = _mm512_loadu_ps(block.v_means + channel + v * 16);
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      float* o = out + r * block.stride + channel + v * 16;
      const __m512 tail = _mm512_mul_ps(_mm512_set1_ps(s.total[r]), mean);
      const __m512 value = _mm512_fmadd_ps(_mm512_cvtepi32_ps(acc[r][v]), scale, tail);
      const __m512 old = _mm512_mul_ps(_mm512_loadu_ps(o), _mm512_set1_ps(s.older[r]));
      _mm512_storeu_ps(o, _mm512_fmadd_ps(value, _mm512_set1_ps(s.newer[r]), old));
    });
  });
}

// f(Index<vectors>{}, first column) for all of `columns`, a multiple of 16, 64 at a time.
template <class F>
PLATEN_INLINE void ForColumns(int columns, F f) {
  int first = 0;
  for (; first + 64 <= columns; first += 64) f(Index<4>{}, first);
  if (first + 32 <= columns) {
    f(Index<2>{}, first);
    first += 32;
  }
  if (first < columns) f(Index<1>{}, first);
}

struct VnniProducts {
  static constexpr int kRows = 6;

  PLATEN_INLINE static void Scores(const Int8Block& block, Int8Softmax& s) {
    const ptrdiff_t page_bytes = static_cast<ptrdiff_t>(block.depth) * kInt8PageTokens;
    const auto score = [&](auto rows) __attribute__((always_inline)) {
      ForColumns((block.keys + 15) / 16 * 16, [&](auto vectors, int first) {
        const uint8_t* page = block.k + first / kInt8PageTokens * page_bytes;
        ScoreKeys<rows, vectors>(block, page + first % kInt8PageTokens * 4, block.k_scales + first,
                                 s.t + first, s.top);
      });
    };
    WithIndex<kRows>(block.rows, score);
  }
  PLATEN_INLINE static void Weigh(const Int8Block& block, const Int8Softmax& s, float* out) {
    const auto weigh = [&](auto rows) __attribute__((always_inline)) {
      ForColumns(block.stride, [&](auto vectors, int first) {
        WeighChannels<rows, vectors>(block, s, first, out);
      });
    };
    WithIndex<kRows>(block.rows, weigh);
  }
};

}  // namespace
}  // namespace PLATEN_ISA

void AttentionInt8Avx512Vnni(const AttentionInt8Job& job) {
  PLATEN_ISA::AttentionInt8<PLATEN_ISA::VnniProducts>(job);
}

}  // namespace platen
