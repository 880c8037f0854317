#include "model/ops/linear.h"

#include <algorithm>

#include "model/ops/parallel.h"

namespace platen {
namespace {

// A job's size for the worker pool: 192 rows x 4 panels keeps a slice of x and a panel in a
// 1 MiB L2 cache and is still small enough to balance over a few cores.
constexpr int64_t kJobRows = 192;
constexpr int64_t kJobPanels = 4;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Row `column` of w into one column of a [k][64] panel.
void PackColumn(ConstMatView w, int64_t column, int64_t place, float* panel) {
  const float* row = column < w.rows ? w.Row(column) : nullptr;
  for (int64_t i = 0; i < w.cols; ++i) panel[i * kPanelColumns + place] = row ? row[i] : 0.0F;
}

}  // namespace

Linear Linear::Pack(ConstMatView w, std::span<const float> bias) {
  assert(bias.empty() || static_cast<int64_t>(bias.size()) == w.rows);
  Linear linear;
  linear.columns_ = w.rows;
  linear.depth_ = w.cols;
  const int64_t panels = CeilDiv(w.rows, kPanelColumns);
  linear.panels_.Resize(panels, w.cols * kPanelColumns);
  if (!bias.empty()) {
    linear.bias_.assign(bias.begin(), bias.end());
    linear.bias_.resize(static_cast<size_t>(panels * kPanelColumns), 0.0F);
  }
  MatView packed = linear.panels_.View();
  ParallelFor(panels, [&](int64_t p) {
    for (int64_t j = 0; j < kPanelColumns; ++j) {
      PackColumn(w, p * kPanelColumns + j, j, packed.Row(p));
    }
  });
  return linear;
}

Linear Linear::PackSiluMul(ConstMatView gate, std::span<const float> gate_bias, ConstMatView up,
                           std::span<const float> up_bias) {
  assert(gate.rows == up.rows && gate.cols == up.cols && gate_bias.size() == up_bias.size());
  constexpr int64_t kHalf = kPanelColumns / 2;
  Linear linear;
  linear.silu_mul_ = true;
  linear.columns_ = gate.rows;
  linear.depth_ = gate.cols;
  const int64_t panels = CeilDiv(gate.rows, kHalf);
  linear.panels_.Resize(panels, gate.cols * kPanelColumns);
  if (!gate_bias.empty()) linear.bias_.resize(static_cast<size_t>(panels * kPanelColumns), 0.0F);
  MatView packed = linear.panels_.View();
  ParallelFor(panels, [&](int64_t p) {
    for (int64_t j = 0; j < kHalf; ++j) {
      const int64_t column = p * kHalf + j;
      PackColumn(gate, column, j, packed.Row(p));
      PackColumn(up, column, j + kHalf, packed.Row(p));
      if (gate_bias.empty() || column >= gate.rows) continue;
      linear.bias_[static_cast<size_t>(p * kPanelColumns + j)] = gate_bias[column];
      linear.bias_[static_cast<size_t>(p * kPanelColumns + j + kHalf)] = up_bias[column];
    }
  });
  return linear;
}

void Linear::Apply(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const {
  assert(x.cols == depth_ && y.cols == columns_ && x.rows == y.rows);
  assert(!silu_mul_ || mode == Mode::kStore);
  const Epilogue epilogue = silu_mul_              ? Epilogue::kSiluMul
                            : mode == Mode::kAddTo ? Epilogue::kAdd
                                                   : Epilogue::kStore;
  const int64_t panel_columns = silu_mul_ ? kPanelColumns / 2 : kPanelColumns;
  const int64_t row_jobs = CeilDiv(x.rows, kJobRows);
  const int64_t panel_jobs = CeilDiv(num_panels(), kJobPanels);
  ParallelFor(row_jobs * panel_jobs, [&](int64_t job_index) {
    const int64_t first_row = job_index / panel_jobs * kJobRows;
    const int64_t first_panel = job_index % panel_jobs * kJobPanels;
    GemmF32Job job;
    job.a = x.Row(first_row);
    job.a_stride = x.stride;
    job.rows = static_cast<int>(std::min(kJobRows, x.rows - first_row));
    job.k = static_cast<int>(depth_);
    job.panels = panels_.View().Row(first_panel);
    job.num_panels = static_cast<int>(std::min(kJobPanels, num_panels() - first_panel));
    job.bias = bias_.empty() ? nullptr : bias_.data() + first_panel * kPanelColumns;
    job.c = y.Row(first_row) + first_panel * panel_columns;
    job.c_stride = y.stride;
    job.columns = static_cast<int>(
        std::min(columns_ - first_panel * panel_columns, job.num_panels * panel_columns));
    job.epilogue = epilogue;
    kernels.gemm_f32(job);
  });
}

}  // namespace platen
