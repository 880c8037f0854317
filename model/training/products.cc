#include "model/training/products.h"

#include <cblas.h>

#include <algorithm>
#include <cassert>

#include "model/kernels/kernels.h"
#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kTileRows = 256;
constexpr int64_t kTileColumns = 768;  // divides the widths of GLM-OCR: all tiles are as wide

void OneThread() {
  static const bool once = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  (void)once;
}

CBLAS_TRANSPOSE Code(Operand op) { return op == Operand::kPlain ? CblasNoTrans : CblasTrans; }

void Gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, float scale,
          ConstView<float> a, ConstView<float> b, float keep, View<float> c) {
  cblas_sgemm(CblasRowMajor, a_op, b_op, m, n, k, scale, a.data, static_cast<int>(a.stride), b.data,
              static_cast<int>(b.stride), keep, c.data, static_cast<int>(c.stride));
}
void Gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, int m, int n, int k, double scale,
          ConstView<double> a, ConstView<double> b, double keep, View<double> c) {
  cblas_dgemm(CblasRowMajor, a_op, b_op, m, n, k, scale, a.data, static_cast<int>(a.stride), b.data,
              static_cast<int>(b.stride), keep, c.data, static_cast<int>(c.stride));
}

// Calls tile(rows, columns) for every tile of a result.
template <class Tile>
void ForTiles(int64_t rows, int64_t columns, const Tile& tile) {
  const int64_t down = CeilDiv(rows, kTileRows), across = CeilDiv(columns, kTileColumns);
  ParallelFor(down * across, [&](int64_t i) {
    const int64_t row = i / across * kTileRows, column = i % across * kTileColumns;
    tile(Range{row, std::min(kTileRows, rows - row)},
         Range{column, std::min(kTileColumns, columns - column)});
  });
}

}  // namespace

template <class T>
void MultiplyHere(T scale, ConstView<T> a, Operand op_a, ConstView<T> b, Operand op_b, T keep,
                  View<T> c) {
  OneThread();
  const int64_t k = op_a == Operand::kPlain ? a.cols : a.rows;
  assert(k == (op_b == Operand::kPlain ? b.rows : b.cols));
  assert(c.rows == (op_a == Operand::kPlain ? a.rows : a.cols));
  assert(c.cols == (op_b == Operand::kPlain ? b.cols : b.rows));
  if (c.rows == 0 || c.cols == 0) return;
  Gemm(Code(op_a), Code(op_b), static_cast<int>(c.rows), static_cast<int>(c.cols),
       static_cast<int>(k), scale, a, b, keep, c);
}

template <class T>
void ApplyWeights(ConstView<T> x, ConstView<T> w, View<T> y, Into into) {
  assert(x.rows == y.rows && x.cols == w.cols && w.rows == y.cols);
  ForTiles(y.rows, y.cols, [&](Range rows, Range columns) {
    MultiplyHere<T>(1, x.Rows(rows.first, rows.count), Operand::kPlain,
                    w.Rows(columns.first, columns.count), Operand::kTransposed,
                    into == Into::kAdd ? 1 : 0,
                    y.Rows(rows.first, rows.count).Columns(columns.first, columns.count));
  });
}

template <class T>
void ApplyTransposed(ConstView<T> dy, ConstView<T> w, View<T> dx, Into into) {
  assert(dy.rows == dx.rows && dy.cols == w.rows && w.cols == dx.cols);
  ForTiles(dx.rows, dx.cols, [&](Range rows, Range columns) {
    MultiplyHere<T>(1, dy.Rows(rows.first, rows.count), Operand::kPlain,
                    w.Columns(columns.first, columns.count), Operand::kPlain,
                    into == Into::kAdd ? 1 : 0,
                    dx.Rows(rows.first, rows.count).Columns(columns.first, columns.count));
  });
}

template <class T>
void AddWeightGradient(ConstView<T> dy, ConstView<T> x, View<T> dw) {
  assert(dy.rows == x.rows && dy.cols == dw.rows && x.cols == dw.cols);
  if (dy.rows == 0) return;
  ForTiles(dw.rows, dw.cols, [&](Range rows, Range columns) {
    MultiplyHere<T>(1, dy.Columns(rows.first, rows.count), Operand::kTransposed,
                    x.Columns(columns.first, columns.count), Operand::kPlain, 1,
                    dw.Rows(rows.first, rows.count).Columns(columns.first, columns.count));
  });
}

void ApplyTransposedPanels(ConstView<float> dy, const float* panels, View<float> dx, Into into) {
  constexpr int64_t kRows = 192, kPanels = 4;  // of a job: what fits a cache of 1 MiB
  assert(dy.rows == dx.rows);
  const KernelTable& kernels = BestKernels();
  const int64_t down = CeilDiv(dx.rows, kRows);
  const int64_t across = CeilDiv(dx.cols, kPanels * kPanelColumns);
  ParallelFor(down * across, [&](int64_t i) {
    const int64_t row = i / across * kRows, column = i % across * kPanels * kPanelColumns;
    GemmF32Job job;
    job.a = dy.Row(row);
    job.a_stride = dy.stride;
    job.rows = static_cast<int>(std::min(kRows, dx.rows - row));
    job.k = static_cast<int>(dy.cols);
    job.panels = panels + column * dy.cols;
    job.columns = static_cast<int>(std::min(kPanels * kPanelColumns, dx.cols - column));
    job.num_panels = (job.columns + kPanelColumns - 1) / kPanelColumns;
    job.c = dx.Row(row) + column;
    job.c_stride = dx.stride;
    job.epilogue = into == Into::kAdd ? Epilogue::kAdd : Epilogue::kStore;
    kernels.gemm_f32(job);
  });
}

const char* BlasCore() {
  OneThread();
  return openblas_get_corename();
}

#define PLATEN_INSTANTIATE(T)                                                                 \
  template void MultiplyHere<T>(T, ConstView<T>, Operand, ConstView<T>, Operand, T, View<T>); \
  template void ApplyWeights<T>(ConstView<T>, ConstView<T>, View<T>, Into);                   \
  template void ApplyTransposed<T>(ConstView<T>, ConstView<T>, View<T>, Into);                \
  template void AddWeightGradient<T>(ConstView<T>, ConstView<T>, View<T>);
PLATEN_INSTANTIATE(float)
PLATEN_INSTANTIATE(double)
#undef PLATEN_INSTANTIATE

}  // namespace platen
