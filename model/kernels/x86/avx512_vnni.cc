// The int8 product on AVX-512 VNNI: 6 rows x 4 vectors, 24 s32 accumulators in registers.
// Everything else of this table is the avx512 file's.
//
// Loops, from the outside: chunks of rows; panels; slices of k; blocks of up to 6 rows. Between
// groups the f32 sums of a chunk lie in memory: in the result itself where nothing is left to be
// done with them. Schedules differ in how long a slice is and in how the weights that follow are
// prefetched.
//
//             64 columns of a panel: 4 vectors of four k each
//              w[0]       w[1]       w[2]       w[3]
//   a row 0  acc[0][0]  acc[0][1]  acc[0][2]  acc[0][3]      four bytes of a row of activations,
//   a row 1  acc[1][0]  acc[1][1]  acc[1][2]  acc[1][3]      broadcast, times 64 bytes of weights:
//    ...                                                     vpdpbusd adds four products to each
//   a row 5  acc[5][0]  acc[5][1]  acc[5][2]  acc[5][3]      of 16 sums
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/epilogue.h"
#include "model/kernels/generic/int8_job.h"
#include "model/kernels/generic/lanes.h"
#include "model/kernels/generic/row_blocks.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

constexpr int kVnniBlockRows = 6;
constexpr int kS8ChunkRows = 192;  // sums of a chunk: 48 KiB
constexpr int kSteps = 4;          // fours of k per iteration of the inner loop
constexpr int kWholeK = 1 << 30;

// For cores that do two 512-bit products a cycle (Intel), for which the L2 cache delivers weights
// too slowly. A slice of 512 k is 32 KiB and stays in the L1 cache while all row blocks use it;
// with few rows, slices of 256 let the next one arrive sooner. Four streams of memory are
// prefetched side by side: on Sapphire Rapids one stream reads 11 GB/s and four read 17.
struct SlicesOfK {
  static constexpr int kStreams = 4;
  static constexpr int kLocality = 3;  // prefetches into L1
  static int SliceK(int rows) { return rows <= 24 ? 256 : 512; }
};

// For cores that do one (AMD Zen 4, whose vector units have 256 bits) and have an L1 cache of 32
// KiB: the weights come from L2, and a block of rows multiplies a whole panel at once. One stream
// reads 30 GB/s there, four read 22. With two to four blocks, slices of 256 k stay in L1 for all of
// them.
struct WholePanels {
  static constexpr int kStreams = 1;
  static constexpr int kLocality = 2;  // into L2
  static int SliceK(int rows) { return kVnniBlockRows < rows && rows <= 20 ? 256 : kWholeK; }
};
// The same where the slices of two blocks, one that is used and one that is prefetched, fit in the
// L1 cache beside the activations (AMD Zen 5, 48 KiB). Prefetches into L1 wait their turn where too
// many are under way: 7 to 12 rows read 35 GB/s there, and 29 into L2.
struct WholePanelsIntoL1 : WholePanels {
  static constexpr int kLocality = 3;
};

// Lines that an iteration uses; those who prefetch share as many between them.
constexpr int kIterationLines = kSteps * 4;
// Bytes ahead that a single block prefetches in one stream: what memory delivers in the time that a
// line takes to arrive (38 GB/s and 0.1 us on Zen 5; with 1,024 bytes it reads 31 GB/s).
constexpr ptrdiff_t kOneBlockDistance = 4096;

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
  int group_size;
  bool first_slice;
  float* value;  // [rows][value_stride]: sums of the groups so far
  ptrdiff_t value_stride;
  // Cache lines to prefetch per iteration of the inner loop: `lines`, spread over up to
  // Schedule::kStreams streams that are `distance` bytes apart. With several streams a power of
  // two.
  const uint8_t* next;
  ptrdiff_t distance;
  int lines;
};

template <class Schedule>
PLATEN_INLINE void PrefetchLine(const uint8_t* p) {
  __builtin_prefetch(p, 0, Schedule::kLocality);
}

// The lines of one iteration.
template <class Schedule>
PLATEN_INLINE void PrefetchNext(const uint8_t* next, ptrdiff_t distance, int lines) {
  if (lines >= Schedule::kStreams) {
    for (int i = 0; i < lines; i += Schedule::kStreams, next += 64) {
      Unroll<Schedule::kStreams>([&](auto stream) __attribute__((always_inline)) {
        PrefetchLine<Schedule>(next + stream * distance);
      });
    }
  } else if (lines > 0) {
    PrefetchLine<Schedule>(next);
    if (lines == 2) PrefetchLine<Schedule>(next + distance);
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
                                 const float* w_scales, float* value, ptrdiff_t value_stride) {
  Unroll<MR>([&](auto r) __attribute__((always_inline)) {
    const F32x16 a_scale = Set1(a_scales[r * groups]);
    Unroll<4>([&](auto v) __attribute__((always_inline)) {
      float* out = value + r * value_stride + v * 16;
      const F32x16 scale = Mul(a_scale, Load(w_scales + v * 16));
      const F32x16 old = kFirst ? Set1(0.0F) : Load(out);
      Store(Fma(F32x16{_mm512_cvtepi32_ps(acc[r][v])}, scale, old), out);
    });
  });
}

template <class Schedule, int MR>
[[gnu::noinline]] void MultiplyBlock(const Block& block) {
  const ptrdiff_t a_stride = block.a_stride;
  const ptrdiff_t value_stride = block.value_stride;
  const ptrdiff_t distance = block.distance;
  const int lines = block.lines;
  const int advance = lines > Schedule::kStreams ? lines / Schedule::kStreams * 64 : 64;
  const int8_t* a = block.a;
  const uint8_t* w = block.weights;
  const uint8_t* next = block.next;
  for (int g = 0, begin = 0; begin < block.k; ++g, begin += block.group_size) {
    __m512i acc[MR][4];
    // Starting at -128 * sum(a) takes out the 128 that is added to every weight.
    Unroll<MR>([&](auto r) __attribute__((always_inline)) {
      const __m512i start = _mm512_set1_epi32(block.a_corrections[r * block.groups + g]);
      Unroll<4>([&](auto v) __attribute__((always_inline)) { acc[r][v] = start; });
    });
    int left = block.k - begin < block.group_size ? block.k - begin : block.group_size;
    for (; left >= 4 * kSteps; left -= 4 * kSteps, next += advance) {
      PrefetchNext<Schedule>(next, distance, lines);
      Unroll<kSteps>([&](auto i) __attribute__((always_inline)) {
        Step<MR>(acc, a + 4 * i, a_stride, w + i * 4 * kPanelColumns);
      });
      a += 4 * kSteps;
      w += 4 * kSteps * kPanelColumns;
    }
    for (; left > 0; left -= 4, a += 4, w += 4 * kPanelColumns) Step<MR>(acc, a, a_stride, w);
    const float* w_scales = block.w_scales + g * kPanelColumns;
    if (block.first_slice && g == 0) {
      AddScaledSums<MR, true>(acc, block.a_scales, block.groups, w_scales, block.value,
                              value_stride);
    } else {
      AddScaledSums<MR, false>(acc, block.a_scales + g, block.groups, w_scales, block.value,
                               value_stride);
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

// Which of the first blocks prefetch the slice that follows in memory, a part each: of one stream
// all, so that memory never waits; else a power of two, so that each has some of every stream.
template <class Schedule>
PLATEN_INLINE int FetchingBlocks(int blocks) {
  if (Schedule::kStreams == 1) return blocks < kIterationLines ? blocks : kIterationLines;
  int fetching = 1;
  while (fetching * 2 <= blocks && fetching < kIterationLines) fetching *= 2;
  return fetching;
}

template <class Schedule>
void MultiplySliceOfPanel(const GemmS8Job& job, const Panel& panel, const SliceOfK& slice,
                          int first_row, int rows, float* value) {
  const int blocks = (rows + kVnniBlockRows - 1) / kVnniBlockRows;
  const int fetching = FetchingBlocks<Schedule>(blocks);
  Block block;
  block.a_stride = job.a_stride;
  block.groups = job.groups;
  block.weights = panel.weights + static_cast<ptrdiff_t>(slice.begin) * kPanelColumns;
  block.w_scales = panel.scales + slice.first_group * kPanelColumns;
  block.k = slice.k;
  block.group_size = job.group_size;
  block.first_slice = slice.begin == 0;
  const ptrdiff_t bytes = static_cast<ptrdiff_t>(slice.k) * kPanelColumns;
  const int least_lines = kIterationLines / fetching;
  const int streams = least_lines < Schedule::kStreams ? least_lines : Schedule::kStreams;
  block.distance = bytes / streams;
  const bool plain =
      job.epilogue == Epilogue::kStore && panel.bias == nullptr && panel.columns == kPanelColumns;
  block.value_stride = plain ? job.c_stride : kPanelColumns;
  const bool near = blocks == 1 && Schedule::kStreams == 1;
  const ptrdiff_t ahead = near ? kOneBlockDistance : bytes;
  for (int i = 0; i < blocks; ++i) {
    const int first = BlockStart(rows, blocks, i);
    const int count = BlockStart(rows, blocks, i + 1) - first;
    const int row = first_row + first;
    const ptrdiff_t scales_at = static_cast<ptrdiff_t>(row) * job.groups + slice.first_group;
    block.a = job.a + row * job.a_stride + slice.begin;
    block.a_scales = job.a_scales + scales_at;
    block.a_corrections = job.a_corrections + scales_at;
    block.value = plain               ? job.c + row * job.c_stride + panel.first_column
                  : slice.slices == 1 ? value
                                      : value + first * kPanelColumns;
    const int lines_before = BlockStart(kIterationLines, fetching, i < fetching ? i : fetching);
    block.lines = i < fetching ? BlockStart(kIterationLines, fetching, i + 1) - lines_before : 0;
    block.next = block.weights + ahead + block.distance / kIterationLines * lines_before;
    // A few output rows per slice: all at once would delay the loads of the next block.
    for (int r = slice.index; r < count; r += slice.slices) PrefetchOutput(job, panel, row + r);
    WithIndex<kVnniBlockRows>(
        count, [&](auto n) __attribute__((always_inline)) { MultiplyBlock<Schedule, n>(block); });
    if (!plain && slice.index + 1 == slice.slices) FinishRows(job, panel, block.value, row, count);
  }
}

template <class Schedule>
void MultiplyInSchedule(const GemmS8Job& job) {
  alignas(64) float value[kS8ChunkRows * kPanelColumns];
  const int wanted_k = Schedule::SliceK(job.rows);
  const int slice_groups = wanted_k > job.k_padded     ? job.groups
                           : wanted_k > job.group_size ? wanted_k / job.group_size
                                                       : 1;
  const int slice_k = slice_groups * job.group_size;
  const int slices = (job.k_padded + slice_k - 1) / slice_k;
  for (int first = 0; first < job.rows; first += kS8ChunkRows) {
    const int rows = job.rows - first < kS8ChunkRows ? job.rows - first : kS8ChunkRows;
    for (int p = 0; p < job.num_panels; ++p) {
      const Panel panel = PanelOf(job, p);
      for (int i = 0; i < slices; ++i) {
        const int begin = i * slice_k;
        const int k = job.k_padded - begin < slice_k ? job.k_padded - begin : slice_k;
        MultiplySliceOfPanel<Schedule>(job, panel, {begin, k, i, slices, i * slice_groups}, first,
                                       rows, value);
      }
    }
  }
}

}  // namespace
}  // namespace PLATEN_ISA

void GemmS8PanelsAvx512Vnni(const GemmS8Job& job) {
  PLATEN_ISA::MultiplyInSchedule<PLATEN_ISA::WholePanels>(job);
}
void GemmS8SlicesAvx512Vnni(const GemmS8Job& job) {
  PLATEN_ISA::MultiplyInSchedule<PLATEN_ISA::SlicesOfK>(job);
}

constexpr GemmSchedules kAvx512VnniSchedules = {
    {{"whole panels, 1 prefetch stream", 1, GemmS8PanelsAvx512Vnni},
     {"whole panels, 1 prefetch stream into L1", 1,
      PLATEN_ISA::MultiplyInSchedule<PLATEN_ISA::WholePanelsIntoL1>},
     {"slices of k, 4 prefetch streams", 4, GemmS8SlicesAvx512Vnni}},
    3};

}  // namespace platen
