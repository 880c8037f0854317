// The int8 product on AVX-512 VNNI: 6 rows x 4 vectors, 24 s32 accumulators in registers.
// Everything else of this table is the avx512 file's.
//
// Order of work: chunks of rows; panels; slices of k; blocks of up to 6 rows. The f32 sums of a
// chunk wait between slices. How long a slice is and how the weights that follow are fetched differ
// from CPU to CPU: there are two such orders with the same bits, and the faster is taken (S8Order).
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/epilogue.h"
#include "model/kernels/generic/int8_job.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

constexpr int kVnniBlockRows = 6;
constexpr int kS8ChunkRows = 192;  // sums of a chunk: 48 KiB
constexpr int kSteps = 4;          // fours of k per turn of the inner loop
constexpr int kWholeK = 1 << 30;

// For cores that do two 512-bit products a cycle (Intel): more weights than the L2 cache gives. A
// slice of 512 k is 32 KiB and stays in the L1 cache while the row blocks pass; with few rows, 256
// let the next slice arrive sooner. Four places are fetched side by side, because each is a stream
// of its own for the memory: one stream reads 11 GB/s there, four 17.
struct SlicesFromFourPlaces {
  static constexpr const char* kName = "slices of k, fetched from four places";
  static constexpr int kPlaces = 4;
  static constexpr _mm_hint kInto = _MM_HINT_T0;
  static int SliceK(int rows) { return rows <= 24 ? 256 : 512; }
};

// For cores that do one (AMD Zen 4, whose vector units have 256 bits) and an L1 cache of 32 KiB:
// the weights come from L2, and a block of rows goes through a whole panel at once. One stream
// reads 30 GB/s there, four 22. What two to four blocks need again stays in L1.
struct PanelsInOneStream {
  static constexpr const char* kName = "whole panels, fetched in one stream";
  static constexpr int kPlaces = 1;
  static constexpr _mm_hint kInto = _MM_HINT_T1;
  static int SliceK(int rows) { return kVnniBlockRows < rows && rows <= 20 ? 256 : kWholeK; }
};
constexpr ptrdiff_t kAheadOfOneBlock = 1024;  // bytes, in one stream

// One row block and one slice of a panel.
struct Block {
  const int8_t* a;
  ptrdiff_t a_stride;
  const float* a_scales;         // [rows, groups], of the slice's first group
  const int32_t* a_corrections;  // likewise
  int groups;                    // stride of the two
  const uint8_t* weights;
  const float* w_scales;
  int k;  // of the slice
  int group_k;
  bool first_slice;
  float* value;  // [rows][64]: sums of the groups so far
  // Lines to fetch per turn of the inner loop: `lines` (0, 1, 2, 4, 8, 16), spread over up to
  // Order::kPlaces places that are `distance` bytes apart.
  const uint8_t* next;
  ptrdiff_t distance;
  int lines;
};

template <class Order>
PLATEN_INLINE void PrefetchLine(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p), Order::kInto);
}

// The lines of one turn.
template <class Order>
PLATEN_INLINE void PrefetchNext(const uint8_t* next, ptrdiff_t distance, int lines) {
  if (lines >= Order::kPlaces) {
    for (int i = 0; i < lines; i += Order::kPlaces, next += 64) {
      Unroll<Order::kPlaces>([&](auto place) __attribute__((always_inline)) {
        PrefetchLine<Order>(next + place * distance);
      });
    }
  } else if (lines > 0) {
    PrefetchLine<Order>(next);
    if (lines == 2) PrefetchLine<Order>(next + distance);
  }
}

// acc += w * a. In assembly, because GCC 12 spills the accumulators of the intrinsic's loop.
PLATEN_INLINE void Dot(__m512i& acc, __m512i w, __m512i a) {
  asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(w), "v"(a));
}

// Four k of MR rows x 64 columns.
template <int MR>
PLATEN_INLINE void Step(__m512i (&acc)[MR][4], const int8_t* a, ptrdiff_t a_stride,
                        const uint8_t* w) {
  __m512i b[4];
  Unroll<4>([&](auto v) __attribute__((always_inline)) { b[v] = _mm512_loadu_si512(w + 64 * v); });
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    int32_t four;
    __builtin_memcpy(&four, a + r * a_stride, sizeof(four));
    const __m512i x = _mm512_set1_epi32(four);
    Unroll<4>([&](auto v) __attribute__((always_inline)) { Dot(acc[r][v], b[v], x); });
  });
}

// value = fma(float(dot), s_a * s_w, value), from 0 if kFirst.
template <int MR, bool kFirst>
PLATEN_INLINE void AddScaledSums(const __m512i (&acc)[MR][4], const float* a_scales, int groups,
                                 const float* w_scales, float* value) {
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    const F32x16 a_scale = Set1(a_scales[r * groups]);
    Unroll<4>([&](auto v) __attribute__((always_inline)) {
      float* out = value + r * kPanelColumns + v * 16;
      const F32x16 scale = Mul(a_scale, Load(w_scales + v * 16));
      const F32x16 old = kFirst ? Set1(0.0F) : Load(out);
      Store(Fma(F32x16{_mm512_cvtepi32_ps(acc[r][v])}, scale, old), out);
    });
  });
}

template <class Order, int MR>
[[gnu::noinline]] void MultiplyBlock(const Block& block) {
  const ptrdiff_t a_stride = block.a_stride;
  const ptrdiff_t distance = block.distance;
  const int lines = block.lines;
  const int advance = lines > Order::kPlaces ? lines / Order::kPlaces * 64 : 64;
  const int8_t* a = block.a;
  const uint8_t* w = block.weights;
  const uint8_t* next = block.next;
  for (int g = 0, begin = 0; begin < block.k; ++g, begin += block.group_k) {
    __m512i acc[MR][4];
    // Starting at -128 * sum(a) takes back the 128 that is added to every weight.
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const __m512i start = _mm512_set1_epi32(block.a_corrections[r * block.groups + g]);
      Unroll<4>([&](auto v) __attribute__((always_inline)) { acc[r][v] = start; });
    });
    int left = block.k - begin < block.group_k ? block.k - begin : block.group_k;
    for (; left >= 4 * kSteps; left -= 4 * kSteps, next += advance) {
      PrefetchNext<Order>(next, distance, lines);
      Unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
        Step<MR>(acc, a + 4 * i, a_stride, w + i * 4 * kPanelColumns);
      });
      a += 4 * kSteps;
      w += 4 * kSteps * kPanelColumns;
    }
    for (; left > 0; left -= 4, a += 4, w += 4 * kPanelColumns) Step<MR>(acc, a, a_stride, w);
    const float* w_scales = block.w_scales + g * kPanelColumns;
    if (block.first_slice && g == 0) {
      AddScaledSums<MR, true>(acc, block.a_scales, block.groups, w_scales, block.value);
    } else {
      AddScaledSums<MR, false>(acc, block.a_scales + g, block.groups, w_scales, block.value);
    }
  }
}

// One slice [begin, begin + k) of a panel for all rows of a chunk.
struct SliceOfK {
  int begin;
  int k;
  int index;  // of `slices`
  int slices;
  int first_group;
};

template <class Order>
void MultiplySliceOfPanel(const GemmS8Job& job, const Panel& panel, const SliceOfK& slice,
                          int first_row, int rows, float* value) {
  const int blocks = (rows + kVnniBlockRows - 1) / kVnniBlockRows;
  // The slice that follows in memory is fetched by the first `fetching` blocks, a power of two.
  int fetching = 1;
  while (fetching * 2 <= blocks && fetching < 16) fetching *= 2;
  Block block;
  block.a_stride = job.a_stride;
  block.groups = job.groups;
  block.weights = panel.weights + static_cast<ptrdiff_t>(slice.begin) * kPanelColumns;
  block.w_scales = panel.scales + slice.first_group * kPanelColumns;
  block.k = slice.k;
  block.group_k = job.group_k;
  block.first_slice = slice.begin == 0;
  const int lines = 16 / fetching;
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(slice.k) * kPanelColumns;
  const int places = lines < Order::kPlaces ? lines : Order::kPlaces;
  block.distance = bytes / places;
  const bool near = blocks == 1 && Order::kPlaces == 1;
  for (int i = 0; i < blocks; ++i) {
    const int first = BlockStart(rows, blocks, i);
    const int count = BlockStart(rows, blocks, i + 1) - first;
    const int row = first_row + first;
    const ptrdiff_t scales_at = static_cast<ptrdiff_t>(row) * job.groups + slice.first_group;
    block.a = job.a + row * job.a_stride + slice.begin;
    block.a_scales = job.a_scales + scales_at;
    block.a_corrections = job.a_corrections + scales_at;
    block.value = slice.slices == 1 ? value : value + first * kPanelColumns;
    block.next = block.weights + (near ? kAheadOfOneBlock : bytes + block.distance / fetching * i);
    block.lines = i < fetching ? lines : 0;
    // A few output rows per slice: all at once would hold up the loads of the next block.
    for (int r = slice.index; r < count; r += slice.slices) PrefetchOutput(job, panel, row + r);
    WithIndex<kVnniBlockRows>(
        count, [&](auto n) __attribute__((always_inline)) { MultiplyBlock<Order, n>(block); });
    if (slice.index + 1 == slice.slices) FinishRows(job, panel, block.value, row, count);
  }
}

template <class Order>
void GemmS8InOrder(const GemmS8Job& job) {
  alignas(64) float value[kS8ChunkRows * kPanelColumns];
  const int wanted_k = Order::SliceK(job.rows);
  const int slice_groups = wanted_k > job.k_padded  ? job.groups
                           : wanted_k > job.group_k ? wanted_k / job.group_k
                                                    : 1;
  const int slice_k = slice_groups * job.group_k;
  const int slices = (job.k_padded + slice_k - 1) / slice_k;
  for (int first = 0; first < job.rows; first += kS8ChunkRows) {
    const int rows = job.rows - first < kS8ChunkRows ? job.rows - first : kS8ChunkRows;
    for (int p = 0; p < job.num_panels; ++p) {
      const Panel panel = PanelOf(job, p);
      for (int i = 0; i < slices; ++i) {
        const int begin = i * slice_k;
        const int k = job.k_padded - begin < slice_k ? job.k_padded - begin : slice_k;
        MultiplySliceOfPanel<Order>(job, panel, {begin, k, i, slices, i * slice_groups}, first,
                                    rows, value);
      }
    }
  }
}

template <class Order>
constexpr S8Order OrderOf() {
  return {Order::kName, Order::kPlaces == 1, GemmS8InOrder<Order>};
}

}  // namespace
}  // namespace PLATEN_ISA

extern const KernelTable kAvx512Kernels;
KernelTable WithAvx512Bf16(KernelTable table);

KernelTable MakeAvx512VnniKernels() {
  KernelTable table = WithAvx512Bf16(kAvx512Kernels);
  table.name = "avx512-vnni";
  return WithFasterOrder(table, PLATEN_ISA::OrderOf<PLATEN_ISA::PanelsInOneStream>(),
                         PLATEN_ISA::OrderOf<PLATEN_ISA::SlicesFromFourPlaces>());
}

}  // namespace platen
