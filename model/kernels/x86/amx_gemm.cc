// The int8 product on AMX: the same packed weights as VNNI and the same bits (sums of a group are
// exact integers). Few rows go to VNNI.
//
// Loops, from the outside: panels; blocks of up to 32 rows; groups of k; units of 32 columns, or
// all 64 with up to 16 rows. While the tiles multiply a unit, the vector units add the sums of the
// unit before to its values: a few rows after every tile product, because a tile product leaves the
// vector units one of their two ports for 16 cycles, and what takes longer delays the next one.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "model/kernels/generic/int8_job.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"
#include "model/kernels/x86/amx_layouts.h"
#include "model/kernels/x86/amx_sums.h"
#include "model/kernels/x86/amx_unit.h"

namespace platen {
namespace PLATEN_ISA {
namespace {

constexpr int kFewestRows = 9;  // below, VNNI is as fast
constexpr int kAmxBlockRows = 2 * kAmxRows;

// Buffers of a job. With the operands of a group (24 KiB at 256) they fit the L1 cache.
struct Buffers {
  alignas(64) float value[kAmxBlockRows * kPanelColumns] = {};  // 0 at the start of every block
  alignas(64) int32_t dots[kAmxBlockRows * kPanelColumns / 2];
  alignas(64) int8_t a_tail[kAmxBlockRows * kTileK];
  alignas(64) uint8_t w_tail[kTileK * kPanelColumns];
};

// Copies of the k that do not fill a step, padded with zeros: only at the end of the last group.
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
class BlockedProduct {
 public:
  BlockedProduct(const GemmS8Job& job, int rows) : job_(job) {
    unit_.a_stride = job.a_stride;
    unit_.rows = rows;
    unit_.dots = buffers_.dots;
    pending_.dots = buffers_.dots;
    pending_.groups = job.groups;
    pending_.w_scales = job.w_scales;  // read even when nothing is pending
    pending_.target = &targets_[0];
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
      streams_ = {next, next + panel_bytes / 4, panel_bytes / 4, (16 + units - 1) / units};
      for (int i = 0; i < blocks; ++i) {
        const int row = i + 1 == blocks ? job_.rows - rows : i * rows;
        MultiplyBlock(panel, row, i * rows - row);
      }
    }
    AddPending();
    _tile_release();
  }

 private:
  static constexpr int kColumns = Layout::kVectors * 16;  // of a unit

  // All groups of a block and a panel; the first `done` rows belong to the block before.
  void MultiplyBlock(const Panel& panel, int row, int done) {
    if (job_.k_padded % kTileK != 0) CopyTailOfA(job_, row, unit_.rows, buffers_.a_tail);
    parity_ ^= 1;
    targets_[parity_] = {job_.c + row * job_.c_stride + panel.first_column,
                         job_.c_stride,
                         panel.columns,
                         job_.epilogue == Epilogue::kAdd,
                         panel.bias,
                         done,
                         unit_.rows};
    for (int g = 0; g < job_.groups; ++g) MultiplyGroup(panel, row, g);
  }

  void MultiplyGroup(const Panel& panel, int row, int g) {
    const int begin = g * job_.group_size;
    const int k = job_.k_padded - begin < job_.group_size ? job_.k_padded - begin : job_.group_size;
    const ptrdiff_t scales_at = static_cast<ptrdiff_t>(row) * job_.groups + g;
    const uint8_t* weights = panel.weights + static_cast<ptrdiff_t>(begin) * kPanelColumns;
    unit_.a = job_.a + row * job_.a_stride + begin;
    unit_.steps = (k + kTileK - 1) / kTileK;
    unit_.a_tail = k % kTileK != 0 ? buffers_.a_tail : nullptr;
    for (int column = 0; column < kPanelColumns; column += kColumns) {
      unit_.weights = weights + column * 4;
      unit_.w_tail = buffers_.w_tail + column * 4;
      Multiply();
      pending_.a_scales = job_.a_scales + scales_at;
      pending_.a_corrections = job_.a_corrections + scales_at;
      pending_.w_scales = panel.scales + g * kPanelColumns + column;
      pending_.value = buffers_.value + column;
      pending_.column = column;
      pending_.rows = unit_.rows;
      pending_.target = &targets_[parity_];
      pending_.output_soon = g + 2 == job_.groups && job_.epilogue != Epilogue::kSiluMul;
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
        return MultiplyUnitWithSink<Sink::kValue>();
      case Sink::kOutput:
        return MultiplyUnitWithSink<Sink::kOutput>();
      case Sink::kGated:
        return MultiplyUnitWithSink<Sink::kGated>();
    }
  }
  template <Sink kSink>
  void MultiplyUnitWithSink() {
    if (unit_.steps == kUsualSteps && unit_.a_tail == nullptr) {
      MultiplyUnit<Layout, kOneBlock, kSink, kUsualSteps>(unit_, pending_, streams_);
    } else {
      MultiplyUnit<Layout, kOneBlock, kSink, 0>(unit_, pending_, streams_);
    }
  }
  void AddPending() {
    if (sink_ == Sink::kOutput) {
      Adder<Layout::kVectors, Sink::kOutput>(pending_).AddRest();
    } else {
      Adder<Layout::kVectors, Sink::kGated>(pending_).AddRest();
    }
  }

  static constexpr int kUsualSteps = 4;  // groups of 256

  const GemmS8Job& job_;
  Unit unit_ = {};
  PendingSums pending_ = {};  // no rows before the first unit
  Sink sink_ = Sink::kValue;
  Target targets_[2] = {};  // of this block, and of the one whose last sums are pending
  int parity_ = 0;
  PanelStreams streams_;
  Buffers buffers_;
};

void MultiplyOnTiles(const GemmS8Job& job) {
  const int blocks = (job.rows + kAmxBlockRows - 1) / kAmxBlockRows;
  const int rows = (job.rows + blocks - 1) / blocks;
  if (rows <= kAmxRows) {
    BlockedProduct<WideLayout, true>(job, rows).Run();
  } else if (blocks == 1) {
    BlockedProduct<SquareLayout, true>(job, rows).Run();
  } else {
    BlockedProduct<SquareLayout, false>(job, rows).Run();
  }
}

// kVnni: the product for few rows, and for groups that do not fill tiles.
template <void (*kVnni)(const GemmS8Job&)>
void GemmS8Amx(const GemmS8Job& job) {
  if (job.rows < kFewestRows || job.group_size % kTileK != 0) {
    kVnni(job);
  } else {
    MultiplyOnTiles(job);
  }
}

}  // namespace
}  // namespace PLATEN_ISA

constexpr GemmSchedules kAmxSchedules = {
    {{"whole panels, 1 prefetch stream", 1, PLATEN_ISA::GemmS8Amx<GemmS8PanelsAvx512Vnni>},
     {"slices of k, 4 prefetch streams", 4, PLATEN_ISA::GemmS8Amx<GemmS8SlicesAvx512Vnni>}},
    2};

}  // namespace platen
