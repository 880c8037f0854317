#include "model/ops/linear.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/ops/open_blas.h"
#include "model/ops/parallel.h"
#include "model/ops/work_observer.h"
#include "model/support/ceil_div.h"
#include "model/support/clock.h"

namespace platen {
namespace {

// A job's size for the worker pool: 192 rows x 4 panels keeps a slice of x and a panel in a
// 1 MiB L2 cache and is still small enough to balance over a few cores.
constexpr int64_t kJobRows = 192;
constexpr int64_t kJobPanels = 4;
constexpr int64_t kQuantizeRowsPerTask = 16;

// Tells the observer, if there is one, when a product began and ended.
class WatchedGemm {
 public:
  explicit WatchedGemm(const GemmCall& call) : observer_(CurrentWorkObserver()), call_(call) {
    if (observer_ != nullptr) start_ns_ = MonotonicNs();
  }
  WatchedGemm(const WatchedGemm&) = delete;
  WatchedGemm& operator=(const WatchedGemm&) = delete;
  ~WatchedGemm() {
    if (observer_ != nullptr) observer_->OnGemm(call_, start_ns_, MonotonicNs());
  }

 private:
  WorkObserver* observer_;
  GemmCall call_;
  int64_t start_ns_ = 0;
};

}  // namespace

const char* PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kF32:
      return "f32";
    case Precision::kF32OpenBlas:
      return "f32-openblas";
    case Precision::kInt8:
      return "int8";
  }
  return "";
}

std::string LinearShape::Text() const {
  std::string text = PrecisionName(format.precision);
  if (int8()) text += " in groups of " + std::to_string(group());
  if (silu_mul) text += " silu(gate) * up";
  return text + " [" + std::to_string(columns) + ", " + std::to_string(depth) + "]";
}

Linear Linear::Pack(WeightFormat format, ConstMatView w, std::span<const float> bias) {
  const LinearShape shape = {.format = format, .columns = w.rows, .depth = w.cols};
  const auto row = [w](int64_t index, std::span<float>) { return w.Row(index); };
  return PackRows(shape, {w.rows, w.cols, row}, bias);
}

Linear Linear::PackSiluMul(WeightFormat format, ConstMatView gate, std::span<const float> gate_bias,
                           ConstMatView up, std::span<const float> up_bias) {
  assert(gate.rows == up.rows && gate.cols == up.cols && gate_bias.size() == up_bias.size());
  const LinearShape shape = {
      .format = format, .silu_mul = true, .columns = gate.rows, .depth = gate.cols};
  const auto row = [gate, up](int64_t index, std::span<float>) {
    return index < gate.rows ? gate.Row(index) : up.Row(index - gate.rows);
  };
  std::vector<float> bias(gate_bias.begin(), gate_bias.end());
  bias.insert(bias.end(), up_bias.begin(), up_bias.end());
  return PackRows(shape, {2 * gate.rows, gate.cols, row}, bias);
}

Linear Linear::FromArrays(const LinearShape& shape, const LinearArrays& arrays,
                          std::shared_ptr<const void> owner) {
  assert(static_cast<int64_t>(arrays.panels.size()) == shape.num_panels() * shape.panel_bytes());
  assert(static_cast<int64_t>(arrays.scales.size()) == shape.num_scales());
  assert(arrays.bias.empty() ||
         static_cast<int64_t>(arrays.bias.size()) == shape.num_panels() * kPanelColumns);
  Linear linear;
  linear.shape_ = shape;
  linear.arrays_ = arrays;
  linear.owner_ = std::move(owner);
  if (shape.format.precision == Precision::kF32OpenBlas) {
    const int64_t last = (shape.num_panels() - 1) / kJobPanels * kJobPanels;
    for (const int64_t first : {int64_t{0}, last}) {
      const int64_t panels = std::min(kJobPanels, shape.num_panels() - first);
      RequireRowIndependence(panels * kPanelColumns, shape.depth, linear.open_blas_rows());
    }
  }
  return linear;
}

OpenBlasRows Linear::open_blas_rows() const {
  const int64_t last_panels = (shape_.num_panels() - 1) % kJobPanels + 1;
  return OpenBlasRowsFor(last_panels * kPanelColumns, depth());
}

size_t Linear::bytes() const {
  return arrays_.panels.size() + arrays_.scales.size_bytes() + arrays_.bias.size_bytes();
}

void Linear::Quantize(const KernelTable& kernels, ConstMatView x, LinearWorkspace& ws) const {
  const auto grow = [](auto& buffer, int64_t n) {
    if (static_cast<int64_t>(buffer.size()) < n) buffer.resize(static_cast<size_t>(n));
  };
  const int64_t k_padded = shape_.k_padded();
  const int64_t groups = shape_.groups();
  grow(ws.values, x.rows * a_stride());
  grow(ws.scales, x.rows * groups);
  grow(ws.corrections, x.rows * groups);
  ParallelFor(CeilDiv(x.rows, kQuantizeRowsPerTask), [&](int64_t task) {
    const int64_t end = std::min(x.rows, (task + 1) * kQuantizeRowsPerTask);
    for (int64_t r = task * kQuantizeRowsPerTask; r < end; ++r) {
      kernels.quantize_row(x.Row(r), static_cast<int>(depth()), static_cast<int>(k_padded),
                           shape_.group(), ws.values.data() + r * a_stride(),
                           ws.scales.data() + r * groups, ws.corrections.data() + r * groups);
    }
  });
}

// The part of a job that is the same in both precisions.
template <class Job>
Job Linear::PanelJob(MatView y, int64_t first_row, int64_t rows, int64_t first_panel,
                     Mode mode) const {
  Job job;
  job.rows = static_cast<int>(rows);
  job.num_panels = static_cast<int>(std::min(kJobPanels, shape_.num_panels() - first_panel));
  job.bias = arrays_.bias.empty() ? nullptr : arrays_.bias.data() + first_panel * kPanelColumns;
  job.c = y.Row(first_row) + first_panel * shape_.panel_columns();
  job.c_stride = y.stride;
  job.columns = static_cast<int>(std::min(columns() - first_panel * shape_.panel_columns(),
                                          job.num_panels * shape_.panel_columns()));
  job.epilogue = shape_.silu_mul        ? Epilogue::kSiluMul
                 : mode == Mode::kAddTo ? Epilogue::kAdd
                                        : Epilogue::kStore;
  return job;
}

void Linear::Apply(const KernelTable& kernels, ConstMatView x, MatView y, LinearWorkspace& ws,
                   Mode mode) const {
  assert(x.cols == depth() && y.cols == columns() && x.rows == y.rows);
  assert(!shape_.silu_mul || mode == Mode::kStore);
  if (x.rows == 0) return;
  if (ws.observer) ws.observer(*this, x);
  const WatchedGemm watched({x.rows, columns() * (shape_.silu_mul ? 2 : 1), depth(),
                             PrecisionName(shape_.format.precision)});
  if (shape_.format.precision == Precision::kF32OpenBlas) {
    ApplyOpenBlas(kernels, x, y, mode);
    return;
  }
  if (shape_.int8()) Quantize(kernels, x, ws);
  const int64_t panel_jobs = CeilDiv(shape_.num_panels(), kJobPanels);
  const int64_t row_jobs = CeilDiv(x.rows, kJobRows);
  ParallelFor(row_jobs * panel_jobs, [&](int64_t index) {
    const int64_t row = index / panel_jobs * x.rows / row_jobs;  // jobs of about the same size
    const int64_t rows = (index / panel_jobs + 1) * x.rows / row_jobs - row;
    const int64_t panel = index % panel_jobs * kJobPanels;
    if (!shape_.int8()) {
      auto job = PanelJob<GemmF32Job>(y, row, rows, panel, mode);
      job.a = x.Row(row);
      job.a_stride = x.stride;
      job.k = static_cast<int>(depth());
      job.panels = reinterpret_cast<const float*>(Panel(panel));
      kernels.gemm_f32(job);
      return;
    }
    auto job = PanelJob<GemmS8Job>(y, row, rows, panel, mode);
    const int64_t groups = shape_.groups();
    job.a = ws.values.data() + row * a_stride();
    job.a_stride = a_stride();
    job.a_scales = ws.scales.data() + row * groups;
    job.a_corrections = ws.corrections.data() + row * groups;
    job.k_padded = static_cast<int>(shape_.k_padded());
    job.group_k = shape_.group();
    job.groups = static_cast<int>(groups);
    job.panels = reinterpret_cast<const uint8_t*>(Panel(panel));
    job.w_scales = arrays_.scales.data() + panel * groups * kPanelColumns;
    kernels.gemm_s8(job);
  });
}

// Calls of fixed row counts, the last one filled up with zeros; sums and filled-up rows lie in
// memory of the thread's own.
void Linear::ApplyOpenBlas(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const {
  const int64_t panel_jobs = CeilDiv(shape_.num_panels(), kJobPanels);
  const OpenBlasRows counts = open_blas_rows();
  const int call_rows = x.rows <= counts.few ? counts.few : counts.many;
  ParallelFor(CeilDiv(x.rows, call_rows) * panel_jobs, [&](int64_t index) {
    thread_local Mat sums, filled;
    const int64_t row = index / panel_jobs * call_rows;
    const int64_t panel = index % panel_jobs * kJobPanels;
    const auto job =
        PanelJob<GemmF32Job>(y, row, std::min<int64_t>(call_rows, x.rows - row), panel, mode);
    const int n = job.num_panels * kPanelColumns;
    RowProduct product = {call_rows,
                          n,
                          static_cast<int>(depth()),
                          x.Row(row),
                          x.stride,
                          reinterpret_cast<const float*>(Panel(panel)),
                          sums.Shaped(call_rows, n).data};
    if (job.rows < call_rows) {
      const MatView rows = filled.Shaped(call_rows, depth());
      std::fill_n(rows.data, call_rows * depth(), 0.0F);
      for (int64_t r = 0; r < job.rows; ++r) std::copy_n(x.Row(row + r), depth(), rows.Row(r));
      product.a = rows.data;
      product.a_stride = depth();
    }
    MultiplyWithOpenBlas(product);
    kernels.finish_f32(job, product.c);
  });
}

}  // namespace platen
