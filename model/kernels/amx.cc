// The int8 product on AMX: the same packed weights as VNNI and the same bits (sums of a group are
// exact integers). Everything else of this table is VNNI's.
//
// Order of work: panels; blocks of up to 32 rows; K-groups; units of 32 columns, or all 64 when
// there are no more than 16 rows. While the tiles multiply one unit, the vector units add the sums
// of the unit before: both share the inner loop. A block's sums (8 KiB), the dots of a unit (4 KiB)
// and the operands of a group (24 KiB at 256) fit the L1 cache; with 64 rows they do not, and
// everything takes a third longer.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "model/kernels/kernels.h"

namespace platen {

KernelTable MakeAvx512VnniKernels();
bool CpuHasAmxBf16();
void AttentionBf16Amx(const AttentionJob& job);

namespace {

#include "model/kernels/lanes_avx512.inc"
//
#include "model/kernels/unroll.inc"
//
#include "model/kernels/finish_row.inc"
//
#include "model/kernels/int8_job.inc"
//
#include "model/kernels/amx_sums.inc"
//
#include "model/kernels/tile_shapes.inc"

constexpr int kTileRows = 16;
constexpr int kTileK = 64;  // bytes of k in a tile row
constexpr int kWeightStride = kPanelColumns * 4;
constexpr int kFewestRows = 9;  // below, VNNI is as fast
constexpr int kBlockRows = 2 * kTileRows;

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
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int rows,
                                     const uint8_t* w) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(6, w, kWeightStride);
    _tile_dpbsud(0, 4, 6);
    _tile_loadd(7, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 7);
    _tile_loadd(5, a + (rows + 1) / 2 * a_stride, a_stride);
    _tile_dpbsud(2, 5, 6);
    _tile_dpbsud(3, 5, 7);
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
  PLATEN_INLINE static void Multiply(const int8_t* a, ptrdiff_t a_stride, int, const uint8_t* w) {
    _tile_loadd(4, a, a_stride);
    _tile_loadd(5, w, kWeightStride);
    _tile_dpbsud(0, 4, 5);
    _tile_loadd(6, w + 64, kWeightStride);
    _tile_dpbsud(1, 4, 6);
    _tile_loadd(5, w + 128, kWeightStride);
    _tile_dpbsud(2, 4, 5);
    _tile_loadd(6, w + 192, kWeightStride);
    _tile_dpbsud(3, 4, 6);
  }
  PLATEN_INLINE static void StoreSums(int, int32_t* dots) {
    constexpr int kStride = kVectors * 64;
    _tile_stored(0, dots, kStride);
    _tile_stored(1, dots + 16, kStride);
    _tile_stored(2, dots + 32, kStride);
    _tile_stored(3, dots + 48, kStride);
  }
};

// Lines of weights to fetch, some per step, from four places at once: each is a stream of its own
// for the memory.
struct Ahead {
  const uint8_t* next;
  ptrdiff_t distance;
  int lines;  // per place and step
};

// dots = the unit's sums; meanwhile the sums of `waiting` are added, `share` rows per step.
template <class Layout>
[[gnu::noinline]] void MultiplyUnit(const Unit& u, const Unit* waiting, int share, Ahead& ahead) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  const int8_t* a = u.a;
  const uint8_t* w = u.weights;
  ptrdiff_t a_stride = u.a_stride;
  const int steps = u.steps;
  const int rows = u.rows;
  const int waiting_rows = waiting == nullptr ? 0 : rows;
  const uint8_t* next = ahead.next;
  for (int i = 0, row = 0; i < steps; ++i, row += share) {
    if (i + 1 == steps && u.a_tail != nullptr) {
      a = u.a_tail;
      a_stride = kTileK;
      w = u.w_tail;
    }
    Layout::Multiply(a, a_stride, rows, w);
    for (int j = 0; j < ahead.lines; ++j, next += 64) {
      Unroll<4>([&](auto place) __attribute__((always_inline)) {
        _mm_prefetch(reinterpret_cast<const char*>(next + place * ahead.distance), _MM_HINT_T1);
      });
    }
    const int left = waiting_rows - row;
    if (left > 0) AddSums<Layout::kVectors>(*waiting, row, left < share ? left : share);
    a += kTileK;
    w += kTileK * kPanelColumns;
  }
  ahead.next = next;
  Layout::StoreSums(rows, u.dots);
}

// Buffers of a job.
struct Buffers {
  alignas(64) float value[kBlockRows * kPanelColumns];
  alignas(64) int32_t dots[kBlockRows * kPanelColumns / 2];
  alignas(64) int8_t a_tail[kBlockRows * kTileK];
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

// One K-group of a panel.
struct Group {
  const GemmS8Job& job;
  const Panel& panel;
  int index;
  int begin;  // first k
  int steps;  // of 64 k, a padded one at the end included
  bool tail;  // it is padded

  Group(const GemmS8Job& j, const Panel& p, int group) : job(j), panel(p), index(group) {
    begin = group * job.group_k;
    const int k = job.k_padded - begin < job.group_k ? job.k_padded - begin : job.group_k;
    steps = (k + kTileK - 1) / kTileK;
    tail = k % kTileK != 0;
  }
};

// The unit of `group` for the block at a row and a column of the panel.
template <class Layout>
PLATEN_INLINE void FillUnit(const Group& group, Buffers& buffers, int row, int column, Unit& u) {
  const GemmS8Job& job = group.job;
  const Panel& panel = group.panel;
  const ptrdiff_t scales_at = static_cast<ptrdiff_t>(row) * job.groups + group.index;
  u.a = job.a + row * job.a_stride + group.begin;
  u.a_stride = job.a_stride;
  u.weights = panel.weights + static_cast<ptrdiff_t>(group.begin) * kPanelColumns + column * 4;
  u.steps = group.steps;
  u.a_tail = group.tail ? buffers.a_tail : nullptr;
  u.w_tail = buffers.w_tail + column * 4;
  u.dots = buffers.dots;
  u.a_scales = job.a_scales + scales_at;
  u.a_corrections = job.a_corrections + scales_at;
  u.groups = job.groups;
  u.w_scales = panel.scales + group.index * kPanelColumns + column;
  u.value = buffers.value + column;
  u.first_group = group.index == 0;
  const bool gated = job.epilogue == Epilogue::kSiluMul;
  const bool last_column = column + Layout::kVectors * 16 == kPanelColumns;
  u.sink = group.index + 1 < job.groups ? Sink::kValue
           : !gated                     ? Sink::kOutput
           : last_column                ? Sink::kGated
                                        : Sink::kValue;
  const int c_column = gated ? 0 : column;
  u.c = job.c + row * job.c_stride + panel.first_column + c_column;
  u.c_stride = job.c_stride;
  u.columns = panel.columns - c_column;
  u.adds = job.epilogue == Epilogue::kAdd;
  u.output_soon = group.index + 2 == job.groups;
  u.bias = panel.bias == nullptr ? nullptr : panel.bias + column;
}

// A job in blocks of `rows` each. The last block reaches back over rows of the one before, so that
// all have the same shape.
template <class Layout>
class Product {
 public:
  Product(const GemmS8Job& job, int rows) : job_(job), rows_(rows) {}

  void Run(int blocks) {
    Layout::Configure(rows_);
    const ptrdiff_t panel_bytes = static_cast<ptrdiff_t>(job_.k_padded) * kPanelColumns;
    const int units = blocks * 4 / Layout::kVectors;  // that share the fetching of the next panel
    for (int p = 0; p < job_.num_panels; ++p) {
      const Panel panel = PanelOf(job_, p);
      if (job_.k_padded % kTileK != 0) CopyTailOfW(job_, panel, buffers_.w_tail);
      ahead_ = {panel.weights + panel_bytes, panel_bytes / 4, (16 + units - 1) / units};
      for (int i = 0; i < blocks; ++i) {
        const int row = i + 1 == blocks ? job_.rows - rows_ : i * rows_;
        MultiplyBlock(panel, row, i * rows_ - row);
      }
    }
    AddSums<Layout::kVectors>(*waiting_, 0, rows_);
    _tile_release();
  }

 private:
  // All groups of a block and a panel; the first `done` rows belong to the block before.
  void MultiplyBlock(const Panel& panel, int row, int done) {
    if (job_.k_padded % kTileK != 0) CopyTailOfA(job_, row, rows_, buffers_.a_tail);
    for (int g = 0; g < job_.groups; ++g) {
      const Group group(job_, panel, g);
      const int share = (rows_ + group.steps - 1) / group.steps;
      for (int column = 0; column < kPanelColumns; column += Layout::kVectors * 16) {
        Unit& u = units_[turn_];
        turn_ ^= 1;
        FillUnit<Layout>(group, buffers_, row, column, u);
        u.first_row = done;
        u.rows = rows_;
        MultiplyUnit<Layout>(u, waiting_, share, ahead_);
        waiting_ = &u;
      }
    }
  }

  const GemmS8Job& job_;
  int rows_;
  Unit units_[2];  // one is multiplied, the other waits to be added
  int turn_ = 0;
  const Unit* waiting_ = nullptr;
  Ahead ahead_;
  Buffers buffers_;
};

void (*vnni_gemm_s8)(const GemmS8Job& job) = nullptr;  // set before the table is handed out

void GemmS8(const GemmS8Job& job) {
  if (job.rows < kFewestRows || job.group_k % kTileK != 0) {
    vnni_gemm_s8(job);
    return;
  }
  const int blocks = (job.rows + kBlockRows - 1) / kBlockRows;
  const int rows = (job.rows + blocks - 1) / blocks;
  if (rows <= kTileRows) {
    Product<Wide>(job, rows).Run(blocks);
  } else {
    Product<Square>(job, rows).Run(blocks);
  }
}

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
  vnni_gemm_s8 = table.gemm_s8;
  table.name = "amx";
  table.gemm_s8 = GemmS8;
  if (CpuHasAmxBf16()) table.attention_bf16 = AttentionBf16Amx;
  return table;
}

}  // namespace platen
