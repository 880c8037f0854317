#include "model/ops/linear.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/ops/norm.h"
#include "model/ops/parallel.h"
#include "model/ops/work_observer.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

// A job's size for the worker pool: 192 rows x 4 panels keeps a slice of x and a panel in a
// 1 MiB L2 cache and is still small enough to balance over a few cores.
constexpr int64_t kJobRows = 192;
constexpr int64_t kJobPanels = 4;
constexpr int64_t kJobRowStep = 32;  // rows of an AMX block: jobs begin at whole ones
constexpr int64_t kQuantizeRowsPerTask = 16;
constexpr int64_t kPieceRows = 64;  // of a result that lies in memory
constexpr int64_t kRowsAhead = 4;   // whose bytes are fetched for writing while a row is quantised
constexpr int64_t kLongestFedGroup = 512;
constexpr int64_t kStrideSkew = 16;  // one cache line: rows 1,024 bytes apart share cache sets

GemmCall CallOf(const Linear& linear, int64_t rows) {
  const LinearShape& shape = linear.shape();
  return {rows, shape.columns * (shape.silu_mul ? 2 : 1), shape.depth,
          PrecisionName(shape.format.precision)};
}

// body(first row, rows, first panel) for all jobs of about the same size, in parallel.
template <class Body>
void ForJobs(int64_t rows, int64_t panels, int64_t job_panels, const Body& body) {
  const int64_t panel_jobs = CeilDiv(panels, job_panels);
  const int64_t row_jobs = CeilDiv(rows, kJobRows);
  const int64_t steps = CeilDiv(rows, kJobRowStep);
  const auto start = [&](int64_t row_job) {
    return std::min(rows, row_job * steps / row_jobs * kJobRowStep);
  };
  ParallelFor(row_jobs * panel_jobs, [&](int64_t index) {
    const int64_t row_job = index / panel_jobs;
    const int64_t row = start(row_job);
    body(row, start(row_job + 1) - row, index % panel_jobs * job_panels);
  });
}

Epilogue EpilogueOf(Linear::Mode mode) {
  switch (mode) {
    case Linear::Mode::kStore:
      return Epilogue::kStore;
    case Linear::Mode::kAddTo:
      return Epilogue::kAdd;
    case Linear::Mode::kRelu:
      return Epilogue::kRelu;
    case Linear::Mode::kSilu:
      return Epilogue::kSilu;
  }
  return Epilogue::kStore;
}

// Asks for the lines of `count` bytes that will be written.
void FetchForWriting(const int8_t* bytes, int64_t count) {
  for (int64_t i = 0; i < count; i += 64) __builtin_prefetch(bytes + i, 1);
}

}  // namespace

const char* PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::kF32:
      return "f32";
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
  return linear;
}

Linear Linear::ColumnsFrom(int64_t first) const {
  assert(first % shape_.panel_columns() == 0 && first < columns());
  const auto panel = static_cast<size_t>(first / shape_.panel_columns());
  const auto per_panel = [&](int64_t of_all) {
    return panel * static_cast<size_t>(of_all / shape_.num_panels());
  };
  LinearShape shape = shape_;
  shape.columns -= first;
  LinearArrays arrays = arrays_;
  arrays.panels = arrays.panels.subspan(per_panel(static_cast<int64_t>(arrays.panels.size())));
  arrays.scales = arrays.scales.subspan(per_panel(static_cast<int64_t>(arrays.scales.size())));
  arrays.bias = arrays.bias.subspan(per_panel(static_cast<int64_t>(arrays.bias.size())));
  return FromArrays(shape, arrays, owner_);
}

size_t Linear::bytes() const {
  return arrays_.panels.size() + arrays_.scales.size_bytes() + arrays_.bias.size_bytes();
}

void Linear::Reserve(int64_t rows, QuantizedRows& x) const {
  const auto grow = [](auto& buffer, int64_t n) {
    if (static_cast<int64_t>(buffer.size()) < n) buffer.resize(static_cast<size_t>(n));
  };
  x.rows = rows;
  x.stride = a_stride();
  grow(x.values, rows * x.stride);
  grow(x.scales, rows * shape_.groups());
  grow(x.corrections, rows * shape_.groups());
}

void Linear::Quantize(const KernelTable& kernels, const LinearInput& input,
                      QuantizedRows& out) const {
  const int64_t rows = input.x.rows;
  const auto k = static_cast<int>(depth());
  Reserve(rows, out);
  const int64_t groups = shape_.groups();
  ParallelFor(CeilDiv(rows, kQuantizeRowsPerTask), [&](int64_t task) {
    thread_local Mat normed;
    float* const scratch = input.normed() ? normed.Shaped(1, k).data : nullptr;
    const int64_t end = std::min(rows, (task + 1) * kQuantizeRowsPerTask);
    for (int64_t r = task * kQuantizeRowsPerTask; r < end; ++r) {
      const float* x = input.x.Row(r);
      if (input.normed()) {
        kernels.rms_norm(x, input.norm_weight.data(), input.eps, k, scratch);
        x = scratch;
      }
      kernels.quantize_row(x, k, static_cast<int>(shape_.k_padded()), shape_.group(),
                           out.values.data() + r * out.stride, out.scales.data() + r * groups,
                           out.corrections.data() + r * groups);
    }
  });
}

// The same rows without a norm to be taken.
LinearInput Linear::Floats(const KernelTable& kernels, const LinearInput& input,
                           LinearWorkspace& ws) {
  if (!input.normed()) return input;
  const MatView normed = ws.normed.Shaped(input.x.rows, input.x.cols);
  RmsNormRows(kernels, input.x, input.norm_weight, input.eps, normed);
  return normed;
}

// The part of a job that is the same in both precisions, without where its rows and results lie.
template <class Job>
Job Linear::PanelJob(int64_t rows, int64_t first_panel, int64_t most_panels, Mode mode) const {
  Job job;
  job.rows = static_cast<int>(rows);
  job.num_panels = static_cast<int>(std::min(most_panels, shape_.num_panels() - first_panel));
  job.bias = arrays_.bias.empty() ? nullptr : arrays_.bias.data() + first_panel * kPanelColumns;
  job.columns = static_cast<int>(std::min(columns() - first_panel * shape_.panel_columns(),
                                          job.num_panels * shape_.panel_columns()));
  job.epilogue = shape_.silu_mul ? Epilogue::kSiluMul : EpilogueOf(mode);
  return job;
}

GemmS8Job Linear::Int8Job(const QuantizedRows& x, int64_t first_row, int64_t rows,
                          int64_t first_panel, int64_t most_panels, Mode mode) const {
  auto job = PanelJob<GemmS8Job>(rows, first_panel, most_panels, mode);
  const int64_t groups = shape_.groups();
  job.a = x.values.data() + first_row * x.stride;
  job.a_stride = x.stride;
  job.a_scales = x.scales.data() + first_row * groups;
  job.a_corrections = x.corrections.data() + first_row * groups;
  job.k_padded = static_cast<int>(shape_.k_padded());
  job.group_size = shape_.group();
  job.groups = static_cast<int>(groups);
  job.panels = reinterpret_cast<const uint8_t*>(Panel(first_panel));
  job.w_scales = arrays_.scales.data() + first_panel * groups * kPanelColumns;
  return job;
}

void Linear::Apply(const KernelTable& kernels, const LinearInput& input, MatView y,
                   LinearWorkspace& ws, Mode mode) const {
  assert(input.x.cols == depth() && y.cols == columns() && input.x.rows == y.rows);
  assert(!shape_.silu_mul || mode == Mode::kStore);
  assert(!shape_.int8() || mode == Mode::kStore || mode == Mode::kAddTo);
  if (y.rows == 0) return;
  const bool wants_floats = !shape_.int8() || ws.observer;
  const LinearInput rows = wants_floats ? Floats(kernels, input, ws) : input;
  if (ws.observer) ws.observer(*this, rows.x);
  if (shape_.int8()) {
    Quantize(kernels, rows, ws.x);
    ApplyQuantized(kernels, ws.x, y, mode);
    return;
  }
  const WatchedGemm watched(CallOf(*this, y.rows));
  ApplyF32(kernels, rows.x, y, mode);
}

void Linear::ApplyF32(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const {
  ForJobs(x.rows, shape_.num_panels(), kJobPanels, [&](int64_t row, int64_t rows, int64_t panel) {
    MultiplyF32(kernels, x.Rows(row, rows), y.Rows(row, rows), panel, kJobPanels, mode);
  });
}

void Linear::ApplyTile(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const {
  assert(!shape_.int8() && x.cols == depth() && y.cols == columns() && x.rows == y.rows);
  MultiplyF32(kernels, x, y, 0, shape_.num_panels(), mode);
}

// All rows with some panels, on the calling thread.
void Linear::MultiplyF32(const KernelTable& kernels, ConstMatView x, MatView y, int64_t first_panel,
                         int64_t most_panels, Mode mode) const {
  auto job = PanelJob<GemmF32Job>(x.rows, first_panel, most_panels, mode);
  job.a = x.data;
  job.a_stride = x.stride;
  job.k = static_cast<int>(depth());
  job.panels = reinterpret_cast<const float*>(Panel(first_panel));
  job.c = y.data + first_panel * shape_.panel_columns();
  job.c_stride = y.stride;
  kernels.gemm_f32(job);
}

void Linear::ApplyQuantized(const KernelTable& kernels, const QuantizedRows& x, MatView y,
                            Mode mode) const {
  assert(shape_.int8() && x.stride == a_stride() && x.rows == y.rows);
  const WatchedGemm watched(CallOf(*this, x.rows));
  ForJobs(x.rows, shape_.num_panels(), kJobPanels, [&](int64_t row, int64_t rows, int64_t panel) {
    GemmS8Job job = Int8Job(x, row, rows, panel, kJobPanels, mode);
    job.c = y.Row(row) + panel * shape_.panel_columns();
    job.c_stride = y.stride;
    kernels.gemm_s8(job);
  });
}

// A job makes whole groups of `next`; longer ones would not stay in the cache until they are
// quantised. kGroupStep is a multiple of the columns of every panel.
bool Linear::CanFeed(const Linear& next) const {
  return shape_.int8() && next.shape_.int8() && next.shape_.group() <= kLongestFedGroup &&
         columns() == next.depth();
}

void Linear::ApplyInto(const Linear& next, const KernelTable& kernels, const LinearInput& input,
                       QuantizedRows& out, LinearWorkspace& ws) const {
  assert(CanFeed(next) && input.x.cols == depth());
  Quantize(kernels, input, ws.x);
  next.Reserve(input.x.rows, out);
  const int64_t group = next.shape_.group();
  const int64_t groups = next.shape_.groups();
  ForPieces(kernels, ws.x, group / shape_.panel_columns(), [&](const Piece& piece) {
    const MatView& sums = piece.values;
    const int64_t first = piece.first_column;
    const int64_t padded = std::min(group, next.shape_.k_padded() - first);
    for (int64_t r = 0; r < sums.rows; ++r) {
      const int64_t row = piece.first_row + r;
      int8_t* const values = out.values.data() + row * out.stride + first;
      if (r + kRowsAhead < sums.rows) FetchForWriting(values + kRowsAhead * out.stride, padded);
      const int64_t at = row * groups + first / group;
      kernels.quantize_row(sums.Row(r), static_cast<int>(sums.cols), static_cast<int>(padded),
                           static_cast<int>(group), values, out.scales.data() + at,
                           out.corrections.data() + at);
    }
  });
}

// Jobs of `job_panels` panels; the sums of each lie in memory of the thread's own.
template <class Take>
void Linear::ForPieces(const KernelTable& kernels, const QuantizedRows& x, int64_t job_panels,
                       const Take& take) const {
  const WatchedGemm watched(CallOf(*this, x.rows));
  ForJobs(x.rows, shape_.num_panels(), job_panels, [&](int64_t row, int64_t rows, int64_t panel) {
    thread_local Mat sums;
    GemmS8Job job = Int8Job(x, row, rows, panel, job_panels, Mode::kStore);
    const MatView c = sums.Shaped(rows, job.columns + kStrideSkew);
    job.c = c.data;
    job.c_stride = c.stride;
    kernels.gemm_s8(job);
    take(Piece{row, panel * shape_.panel_columns(), c.Columns(0, job.columns)});
  });
}

void Linear::ApplyInPieces(const KernelTable& kernels, const LinearInput& input, int64_t unit,
                           const std::function<void(const Piece&)>& take,
                           LinearWorkspace& ws) const {
  assert(columns() % unit == 0);
  const int64_t rows = input.x.rows;
  if (shape_.int8() && !ws.observer && kJobPanels * shape_.panel_columns() % unit == 0) {
    Quantize(kernels, input, ws.x);
    ForPieces(kernels, ws.x, kJobPanels, take);
    return;
  }
  const MatView y = ws.pieces.Shaped(rows, columns());
  Apply(kernels, input, y, ws);
  ParallelFor(CeilDiv(rows, kPieceRows), [&](int64_t index) {
    const int64_t row = index * kPieceRows;
    take({row, 0, y.Rows(row, std::min(kPieceRows, rows - row))});
  });
}

}  // namespace platen
