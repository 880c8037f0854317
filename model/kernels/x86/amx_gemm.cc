// The int8 product on AMX: the same packed weights as VNNI and the same bits (sums of a group are
// exact integers). Everything else of this table is VNNI's.
//
// Order of work: panels; blocks of up to 32 rows; K-groups; units of 32 columns, or all 64 when
// there are no more than 16 rows. While the tiles multiply one unit, the vector units add the sums
// of the unit before: a few rows beside every tile product, because a tile product leaves the
// vector units one of their two ports for 16 cycles, and more than it hides holds up the next one.
// A block's values (8 KiB), the dots of a unit (4 KiB) and the operands of a group (24 KiB at 256)
// fit the L1 cache.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/int8_job.h"
#include "model/kernels/generic/unroll.h"
#include "model/kernels/kernels.h"
#include "model/kernels/x86/amx_sums.h"
#include "model/kernels/x86/tile_shapes.h"

namespace platen {

KernelTable MakeAvx512VnniKernels();
bool CpuHasAmxBf16();
void AttentionBf16Amx(const AttentionJob& job);

namespace PLATEN_ISA {
namespace {

constexpr int kAmxRows = 16;
constexpr int kTileK = 64;  // bytes of k in a tile row
constexpr int kWeightStride = kPanelColumns * 4;
constexpr int kFewestRows = 9;  // below, VNNI is as fast
constexpr int kAmxBlockRows = 2 * kAmxRows;

// Operand tiles are zeroed after their last use. With a neighbour busy on the same physical core a
// thread has about ten physical tile registers, in which every load and every product in flight
// needs one; a zeroed tile needs none. Without a neighbour it costs nothing.

// Two tiles of activations down (4, 5) and two of weights across (6, 7); sums 0 1 / 2 3.
struct Square {
  static constexpr int kVectors = 2;

  static void Configure(int rows) {
    TileShapes shapes;
    const auto upper = static_cast<uint8_t>((rows + 1) / 2);
    const auto lower = static_cast<uint8_t>(rows / 2);
    const uint8_t tile_rows[8] = {upper, upper, lower, lower, upper, lower, 16, 16};
    for (int i = 0; i < 8; ++i) shapes.rows[i] = tile_rows[i];
    LoadTileShapes(shapes);
  }
  // Calls beside(Index<0..3>) after each of the four tile products.
  template <class F>
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int rows,
                                     const uint8_t* w, F beside) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(6, w, kWeightStride);
    _tile_dpbsud(0, 4, 6);
    beside(Index<0>{});
    _tile_loadd(7, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 7);
    _tile_zero(4);
    beside(Index<1>{});
    _tile_loadd(5, a + (rows + 1) / 2 * a_stride, a_stride);
    _tile_dpbsud(2, 5, 6);
    _tile_zero(6);
    beside(Index<2>{});
    _tile_dpbsud(3, 5, 7);
    _tile_zero(5);
    _tile_zero(7);
    beside(Index<3>{});
  }
  PLATEN_INLINE static void StoreSums(int rows, int32_t* dots) {
    constexpr int kStride = kVectors * 64;
    int32_t* lower = dots + (rows + 1) / 2 * kVectors * 16;
    _tile_stored(0, dots, kStride);
    _tile_stored(1, dots + 16, kStride);
    _tile_stored(2, lower, kStride);
    _tile_stored(3, lower + 16, kStride);
  }
};

// One tile of activations (4) and four of weights (5, 6 in turn); sums 0 1 2 3.
struct Wide {
  static constexpr int kVectors = 4;

  static void Configure(int rows) {
    TileShapes shapes;
    for (int i = 0; i < 8; ++i) shapes.rows[i] = static_cast<uint8_t>(i < 5 ? rows : 16);
    LoadTileShapes(shapes);
  }
  template <class F>
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int, const uint8_t* w,
                                     F beside) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(5, w, kWeightStride);
    _tile_dpbsud(0, 4, 5);
    _tile_zero(5);
    beside(Index<0>{});
    _tile_loadd(6, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 6);
    _tile_zero(6);
    beside(Index<1>{});
    _tile_loadd(5, w + 128, kWeightStride);
    _tile_dpbsud(2, 4, 5);
    _tile_zero(5);
    beside(Index<2>{});
    _tile_loadd(6, w + 192, kWeightStride);
    _tile_dpbsud(3, 4, 6);
    _tile_zero(4);
    _tile_zero(6);
    beside(Index<3>{});
  }
  PLATEN_INLINE static void StoreSums(int, int32_t* dots) {
    constexpr int kStride = kVectors * 64;
    _tile_stored(0, dots, kStride);
    _tile_stored(1, dots + 16, kStride);
    _tile_stored(2, dots + 32, kStride);
    _tile_stored(3, dots + 48, kStride);
  }
};

// Operands of one unit: a block's rows, some columns of a panel, one K-group.
struct Unit {
  const int8_t* a;
  ptrdiff_t a_stride;
  const uint8_t* weights;  // first column of the unit
  int rows;
  int steps;             // of 64 k, a padded one at the end included
  const int8_t* a_tail;  // [rows][64] of the padded step; nullptr: none
  const uint8_t* w_tail;
  int32_t* dots;
};

// Weights to fetch into L2 in four places at once: each is a stream of its own for the memory.
struct Ahead {
  const uint8_t* next = nullptr;  // in the first place
  const uint8_t* end = nullptr;
  ptrdiff_t distance = 0;  // from place to place
  int lines = 0;           // in a step, of each place
};

PLATEN_INLINE void Fetch(const uint8_t* line, int lines) {
  for (int i = 0; i < lines; ++i) {
    _mm_prefetch(reinterpret_cast<const char*>(line + i * 64), _MM_HINT_T1);
  }
}

// What is fetched beside product 0 .. 3 of a step, which takes `lines` from each place: all lines
// of a place or, where one block has to fetch them all, a quarter of every place's.
template <bool kOneBlock>
PLATEN_INLINE void FetchBeside(int product, const uint8_t* next, ptrdiff_t distance, int lines) {
  if constexpr (kOneBlock) {
    const int share = lines / 4;
    Unroll<4>([&](auto place) __attribute__((always_inline)) {
      Fetch(next + place * distance + product * share * 64, share);
    });
  } else {
    Fetch(next + product * distance, lines);
  }
}

// A quarter of the weights of a step into L1: 4 rows of tiles, V vectors each.
template <int V>
PLATEN_INLINE void FetchQuarter(const uint8_t* w, int quarter) {
  constexpr int kRows = kAmxRows / 4;
  Unroll<kRows>([&](auto row) __attribute__((always_inline)) {
    const uint8_t* line = w + (quarter * kRows + row) * kWeightStride;
    Unroll<V>([&](auto v) __attribute__((always_inline)) {
      _mm_prefetch(reinterpret_cast<const char*>(line + v * 64), _MM_HINT_T0);
    });
  });
}

// f(0) ... f(n - 1); n is kSteps unless that is 0.
template <int kSteps, class F>
PLATEN_INLINE void ForSteps(int n, F f) {
  if constexpr (kSteps != 0) {
    Unroll<kSteps>(f);
  } else {
    for (int i = 0; i < n; ++i) f(i);
  }
}

// dots = the unit's sums. Meanwhile the sums that wait, which lie there so far, are added. Weights
// that more blocks will use are fetched from L2 into L1 a step ahead; those of a single block are
// only just on their way from memory.
template <class Layout, bool kOneBlock, Sink kSink, int kSteps>
[[gnu::noinline]] void MultiplyUnit(const Unit& u, const Sums& waiting, Ahead& ahead) {
  constexpr int kProducts = 4;  // in a step
  Adder<Layout::kVectors, kSink> adder(waiting);
  const int8_t* a = u.a;
  ptrdiff_t a_stride = u.a_stride;
  const uint8_t* w = u.weights;
  const int rows = u.rows;
  const int steps = u.steps;
  const int share = (rows + kProducts * steps - 1) / (kProducts * steps);
  const uint8_t* next = ahead.next;
  const ptrdiff_t distance = ahead.distance;
  const int lines = ahead.next < ahead.end ? ahead.lines : 0;
  ahead.next += static_cast<ptrdiff_t>(steps) * lines * 64;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  ForSteps<kSteps>(
      steps, [&](auto i) __attribute__((always_inline)) {
        if (kSteps == 0 && i + 1 == steps && u.a_tail != nullptr) {
          a = u.a_tail - i * kTileK;
          a_stride = kTileK;
          w = u.w_tail - i * kTileK * kPanelColumns;
        }
        Layout::Multiply(
            a + i * kTileK, a_stride, rows,
            w + i * kTileK * kPanelColumns, [&](auto product) __attribute__((always_inline)) {
              FetchBeside<kOneBlock>(product, next, distance, lines);
              if constexpr (!kOneBlock) {
                FetchQuarter<Layout::kVectors>(w + (i + 1) * kTileK * kPanelColumns, product);
              }
              if constexpr (kSteps != 0) {
                adder.template AddNext<kPanelColumns / Layout::kVectors / (kProducts * kSteps)>();
              } else {
                adder.AddNext(share);
              }
            });
        next += lines * 64;
      });
  adder.AddRest();
  Layout::StoreSums(rows, u.dots);
}

// Buffers of a job.
struct Buffers {
  alignas(64) float value[kAmxBlockRows * kPanelColumns] = {};  // 0 at the start of every block
  alignas(64) int32_t dots[kAmxBlockRows * kPanelColumns / 2];
  alignas(64) int8_t a_tail[kAmxBlockRows * kTileK];
  alignas(64) uint8_t w_tail[kTileK * kPanelColumns];
};

// The k that do not fill a step, padded with zeros: only at the end of the last group.
void CopyTailOfA(const GemmS8Job& job, int first_row, int rows, int8_t* out) {
  const int tail = job.k_padded % kTileK;
  __builtin_memset(out, 0, static_cast<size_t>(rows) * kTileK);
  for (int r = 0; r < rows; ++r) {
    const int8_t* a = job.a + (first_row + r) * job.a_stride + job.k_padded - tail;
    __builtin_memcpy(out + r * kTileK, a, static_cast<size_t>(tail));
  }
}
void CopyTailOfW(const GemmS8Job& job, const Panel& panel, uint8_t* out) {
  const int tail = job.k_padded % kTileK;
  const uint8_t* w = panel.weights + static_cast<ptrdiff_t>(job.k_padded - tail) * kPanelColumns;
  __builtin_memset(out, 0, static_cast<size_t>(kTileK) * kPanelColumns);
  __builtin_memcpy(out, w, static_cast<size_t>(tail) * kPanelColumns);
}

// A job in blocks of `rows` each. The last block reaches back over rows of the one before, so that
// all have the same shape.
template <class Layout, bool kOneBlock>
class Product {
 public:
  Product(const GemmS8Job& job, int rows) : job_(job) {
    unit_.a_stride = job.a_stride;
    unit_.rows = rows;
    unit_.dots = buffers_.dots;
    waiting_.dots = buffers_.dots;
    waiting_.groups = job.groups;
    waiting_.w_scales = job.w_scales;  // read even when nothing waits
    waiting_.target = &targets_[0];
  }

  void Run() {
    const int rows = unit_.rows;
    const int blocks = (job_.rows + rows - 1) / rows;
    Layout::Configure(rows);
    const ptrdiff_t panel_bytes = static_cast<ptrdiff_t>(job_.k_padded) * kPanelColumns;
    const int units = blocks * kPanelColumns / kColumns;  // that share fetching the next panel
    for (int p = 0; p < job_.num_panels; ++p) {
      const Panel panel = PanelOf(job_, p);
      if (job_.k_padded % kTileK != 0) CopyTailOfW(job_, panel, buffers_.w_tail);
      const uint8_t* next = panel.weights + panel_bytes;
      ahead_ = {next, next + panel_bytes / 4, panel_bytes / 4, (16 + units - 1) / units};
      for (int i = 0; i < blocks; ++i) {
        const int row = i + 1 == blocks ? job_.rows - rows : i * rows;
        MultiplyBlock(panel, row, i * rows - row);
      }
    }
    AddLast();
    _tile_release();
  }

 private:
  static constexpr int kColumns = Layout::kVectors * 16;  // of a unit

  // All groups of a block and a panel; the first `done` rows belong to the block before.
  void MultiplyBlock(const Panel& panel, int row, int done) {
    if (job_.k_padded % kTileK != 0) CopyTailOfA(job_, row, unit_.rows, buffers_.a_tail);
    turn_ ^= 1;
    targets_[turn_] = {job_.c + row * job_.c_stride + panel.first_column,
                       job_.c_stride,
                       panel.columns,
                       job_.epilogue == Epilogue::kAdd,
                       panel.bias,
                       done,
                       unit_.rows};
    for (int g = 0; g < job_.groups; ++g) MultiplyGroup(panel, row, g);
  }

  void MultiplyGroup(const Panel& panel, int row, int g) {
    const int begin = g * job_.group_k;
    const int k = job_.k_padded - begin < job_.group_k ? job_.k_padded - begin : job_.group_k;
    const ptrdiff_t scales_at = static_cast<ptrdiff_t>(row) * job_.groups + g;
    const uint8_t* weights = panel.weights + static_cast<ptrdiff_t>(begin) * kPanelColumns;
    unit_.a = job_.a + row * job_.a_stride + begin;
    unit_.steps = (k + kTileK - 1) / kTileK;
    unit_.a_tail = k % kTileK != 0 ? buffers_.a_tail : nullptr;
    for (int column = 0; column < kPanelColumns; column += kColumns) {
      unit_.weights = weights + column * 4;
      unit_.w_tail = buffers_.w_tail + column * 4;
      Multiply();
      waiting_.a_scales = job_.a_scales + scales_at;
      waiting_.a_corrections = job_.a_corrections + scales_at;
      waiting_.w_scales = panel.scales + g * kPanelColumns + column;
      waiting_.value = buffers_.value + column;
      waiting_.column = column;
      waiting_.rows = unit_.rows;
      waiting_.target = &targets_[turn_];
      waiting_.output_soon = g + 2 == job_.groups && job_.epilogue != Epilogue::kSiluMul;
      sink_ = SinkOf(g, column);
    }
  }
  Sink SinkOf(int group, int column) const {
    if (group + 1 < job_.groups) return Sink::kValue;
    if (job_.epilogue != Epilogue::kSiluMul) return Sink::kOutput;
    return column + kColumns == kPanelColumns ? Sink::kGated : Sink::kValue;
  }

  void Multiply() {
    switch (sink_) {
      case Sink::kValue:
        return MultiplyBeside<Sink::kValue>();
      case Sink::kOutput:
        return MultiplyBeside<Sink::kOutput>();
      case Sink::kGated:
        return MultiplyBeside<Sink::kGated>();
    }
  }
  template <Sink kSink>
  void MultiplyBeside() {
    if (unit_.steps == kUsualSteps && unit_.a_tail == nullptr) {
      MultiplyUnit<Layout, kOneBlock, kSink, kUsualSteps>(unit_, waiting_, ahead_);
    } else {
      MultiplyUnit<Layout, kOneBlock, kSink, 0>(unit_, waiting_, ahead_);
    }
  }
  void AddLast() {
    if (sink_ == Sink::kOutput) {
      Adder<Layout::kVectors, Sink::kOutput>(waiting_).AddRest();
    } else {
      Adder<Layout::kVectors, Sink::kGated>(waiting_).AddRest();
    }
  }

  static constexpr int kUsualSteps = 4;  // K-groups of 256

  const GemmS8Job& job_;
  Unit unit_ = {};
  Sums waiting_ = {};  // no rows before the first unit
  Sink sink_ = Sink::kValue;
  Target targets_[2] = {};  // of this block, and of the one whose last sums wait
  int turn_ = 0;
  Ahead ahead_;
  Buffers buffers_;
};

void (*vnni_gemm_s8)(const GemmS8Job& job) = nullptr;  // set before the table is handed out

void GemmS8OnTiles(const GemmS8Job& job) {
  if (job.rows < kFewestRows || job.group_k % kTileK != 0) {
    vnni_gemm_s8(job);
    return;
  }
  const int blocks = (job.rows + kAmxBlockRows - 1) / kAmxBlockRows;
  const int rows = (job.rows + blocks - 1) / blocks;
  if (rows <= kAmxRows) {
    Product<Wide, true>(job, rows).Run();
  } else if (blocks == 1) {
    Product<Square, true>(job, rows).Run();
  } else {
    Product<Square, false>(job, rows).Run();
  }
}

}  // namespace
}  // namespace PLATEN_ISA

namespace {

// Linux gives a process the large tile registers only on request.
bool RequestTiles() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

bool CpuHasAmxInt8() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  const bool tile = (d >> 24 & 1) != 0;
  const bool int8 = (d >> 25 & 1) != 0;
  return tile && int8 && RequestTiles();
}

KernelTable MakeAmxKernels() {
  KernelTable table = MakeAvx512VnniKernels();
  PLATEN_ISA::vnni_gemm_s8 = table.gemm_s8;
  table.name = "amx";
  table.gemm_s8 = PLATEN_ISA::GemmS8OnTiles;
  if (CpuHasAmxBf16()) table.attention_bf16 = AttentionBf16Amx;
  return table;
}

}  // namespace platen
