#include "model/ops/linear.h"

#include <algorithm>
#include <cmath>

#include "model/ops/open_blas.h"
#include "model/ops/parallel.h"
#include "model/ops/work_observer.h"

namespace platen {
namespace {

// A job's size for the worker pool: 192 rows x 4 panels keeps a slice of x and a panel in a
// 1 MiB L2 cache and is still small enough to balance over a few cores.
constexpr int64_t kJobRows = 192;
constexpr int64_t kJobPanels = 4;
constexpr int64_t kQuantizeRowsPerTask = 16;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Tells the observer, if there is one, when a product began and ended.
class WatchedGemm {
 public:
  explicit WatchedGemm(const GemmCall& call) : observer_(CurrentWorkObserver()), call_(call) {
    if (observer_ != nullptr) start_ns_ = ObserverClockNs();
  }
  WatchedGemm(const WatchedGemm&) = delete;
  WatchedGemm& operator=(const WatchedGemm&) = delete;
  ~WatchedGemm() {
    if (observer_ != nullptr) observer_->OnGemm(call_, start_ns_, ObserverClockNs());
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

// What stands in each of the 64 places of a panel.
struct Linear::Columns {
  ConstMatView first;   // W, or gate
  ConstMatView second;  // up, for silu_mul
  std::span<const float> first_bias;
  std::span<const float> second_bias;
  bool silu_mul = false;

  int64_t per_panel() const { return silu_mul ? kPanelColumns / 2 : kPanelColumns; }
  // Output column of a place; `up` says which of the two factors.
  int64_t Column(int64_t panel, int64_t place, bool& up) const {
    up = silu_mul && place >= per_panel();
    return panel * per_panel() + place % per_panel();
  }
  // Weights of a place; nullptr for padding.
  const float* Row(int64_t panel, int64_t place) const {
    bool up = false;
    const int64_t column = Column(panel, place, up);
    if (column >= first.rows) return nullptr;
    return up ? second.Row(column) : first.Row(column);
  }
  float Bias(int64_t panel, int64_t place) const {
    bool up = false;
    const int64_t column = Column(panel, place, up);
    if (column >= first.rows) return 0.0F;
    return (up ? second_bias : first_bias)[static_cast<size_t>(column)];
  }
};

Linear Linear::Pack(Precision precision, ConstMatView w, std::span<const float> bias) {
  assert(bias.empty() || static_cast<int64_t>(bias.size()) == w.rows);
  return PackColumns(precision, {w, {}, bias, {}, false});
}

Linear Linear::PackSiluMul(Precision precision, ConstMatView gate, std::span<const float> gate_bias,
                           ConstMatView up, std::span<const float> up_bias) {
  assert(gate.rows == up.rows && gate.cols == up.cols && gate_bias.size() == up_bias.size());
  return PackColumns(precision, {gate, up, gate_bias, up_bias, true});
}

Linear Linear::PackColumns(Precision precision, const Columns& columns) {
  Linear linear;
  linear.precision_ = precision;
  linear.silu_mul_ = columns.silu_mul;
  linear.columns_ = columns.first.rows;
  linear.depth_ = columns.first.cols;
  linear.num_panels_ = CeilDiv(linear.columns_, columns.per_panel());
  if (precision != Precision::kInt8) {
    linear.f32_panels_.Resize(linear.num_panels_, linear.depth_ * kPanelColumns);
  } else {
    linear.s8_panels_.Resize(linear.num_panels_, linear.k_padded() * kPanelColumns / 4);
    linear.s8_scales_.Resize(linear.num_panels_, linear.groups() * kPanelColumns);
  }
  if (!columns.first_bias.empty()) {
    for (int64_t p = 0; p < linear.num_panels_; ++p) {
      for (int64_t j = 0; j < kPanelColumns; ++j) linear.bias_.push_back(columns.Bias(p, j));
    }
  }
  ParallelFor(linear.num_panels_, [&](int64_t p) {
    switch (precision) {
      case Precision::kF32:
        linear.PackPanelF32(columns, p);
        break;
      case Precision::kF32OpenBlas:
        linear.PackPanelRows(columns, p);
        break;
      case Precision::kInt8:
        linear.PackPanelS8(columns, p);
        break;
    }
  });
  if (precision == Precision::kF32OpenBlas) {
    for (const int64_t first : {int64_t{0}, (linear.num_panels_ - 1) / kJobPanels * kJobPanels}) {
      const int64_t panels = std::min(kJobPanels, linear.num_panels_ - first);
      RequireRowIndependence(panels * kPanelColumns, linear.depth_, linear.open_blas_rows());
    }
  }
  return linear;
}

void Linear::PackPanelF32(const Columns& columns, int64_t panel) {
  float* out = f32_panels_.View().Row(panel);
  for (int64_t place = 0; place < kPanelColumns; ++place) {
    const float* row = columns.Row(panel, place);
    for (int64_t i = 0; i < depth_; ++i) out[i * kPanelColumns + place] = row ? row[i] : 0.0F;
  }
}

void Linear::PackPanelRows(const Columns& columns, int64_t panel) {
  float* out = f32_panels_.View().Row(panel);
  for (int64_t place = 0; place < kPanelColumns; ++place, out += depth_) {
    const float* row = columns.Row(panel, place);
    row != nullptr ? std::copy_n(row, depth_, out) : std::fill_n(out, depth_, 0.0F);
  }
}

// Weights per column and group: scale = absmax / 127, w = round-to-even(x * (127 / absmax)), stored
// as w ^ 0x80 in fours of k.
void Linear::PackPanelS8(const Columns& columns, int64_t panel) {
  auto* out = reinterpret_cast<uint8_t*>(s8_panels_.View().Row(panel));
  float* scales = s8_scales_.View().Row(panel);
  std::fill_n(out, k_padded() * kPanelColumns, uint8_t{0x80});
  std::fill_n(scales, groups() * kPanelColumns, 0.0F);
  for (int64_t place = 0; place < kPanelColumns; ++place) {
    const float* row = columns.Row(panel, place);
    if (row == nullptr) continue;
    for (int64_t g = 0; g < groups(); ++g) {
      const int64_t end = std::min(depth_, (g + 1) * kGroup);
      float absmax = 0.0F;
      for (int64_t i = g * kGroup; i < end; ++i) absmax = std::max(absmax, std::abs(row[i]));
      const float inverse = absmax > 0.0F ? 127.0F / absmax : 0.0F;
      scales[g * kPanelColumns + place] = absmax / 127.0F;
      for (int64_t i = g * kGroup; i < end; ++i) {
        const auto q = static_cast<int8_t>(std::nearbyint(row[i] * inverse));
        out[i / 4 * 4 * kPanelColumns + place * 4 + i % 4] = static_cast<uint8_t>(q ^ 0x80);
      }
    }
  }
}

OpenBlasRows Linear::open_blas_rows() const {
  return OpenBlasRowsFor((num_panels_ - 1) % kJobPanels * kPanelColumns + kPanelColumns, depth_);
}

size_t Linear::bytes() const {
  return f32_panels_.capacity_bytes() + s8_panels_.capacity_bytes() + s8_scales_.capacity_bytes() +
         bias_.size() * sizeof(float);
}

void Linear::Quantize(const KernelTable& kernels, ConstMatView x, LinearWorkspace& ws) const {
  const auto grow = [](auto& buffer, int64_t n) {
    if (static_cast<int64_t>(buffer.size()) < n) buffer.resize(static_cast<size_t>(n));
  };
  grow(ws.values, x.rows * k_padded());
  grow(ws.scales, x.rows * groups());
  grow(ws.corrections, x.rows * groups());
  ParallelFor(CeilDiv(x.rows, kQuantizeRowsPerTask), [&](int64_t task) {
    const int64_t end = std::min(x.rows, (task + 1) * kQuantizeRowsPerTask);
    for (int64_t r = task * kQuantizeRowsPerTask; r < end; ++r) {
      kernels.quantize_row(x.Row(r), static_cast<int>(depth_), static_cast<int>(k_padded()), kGroup,
                           ws.values.data() + r * k_padded(), ws.scales.data() + r * groups(),
                           ws.corrections.data() + r * groups());
    }
  });
}

// The part of a job that is the same in both precisions.
template <class Job>
Job Linear::PanelJob(MatView y, int64_t first_row, int64_t rows, int64_t first_panel,
                     Mode mode) const {
  Job job;
  job.rows = static_cast<int>(rows);
  job.num_panels = static_cast<int>(std::min(kJobPanels, num_panels_ - first_panel));
  job.bias = bias_.empty() ? nullptr : bias_.data() + first_panel * kPanelColumns;
  job.c = y.Row(first_row) + first_panel * panel_columns();
  job.c_stride = y.stride;
  job.columns = static_cast<int>(
      std::min(columns_ - first_panel * panel_columns(), job.num_panels * panel_columns()));
  job.epilogue = silu_mul_              ? Epilogue::kSiluMul
                 : mode == Mode::kAddTo ? Epilogue::kAdd
                                        : Epilogue::kStore;
  return job;
}

void Linear::Apply(const KernelTable& kernels, ConstMatView x, MatView y, LinearWorkspace& ws,
                   Mode mode) const {
  assert(x.cols == depth_ && y.cols == columns_ && x.rows == y.rows);
  assert(!silu_mul_ || mode == Mode::kStore);
  if (x.rows == 0) return;
  const WatchedGemm watched(
      {x.rows, columns_ * (silu_mul_ ? 2 : 1), depth_, PrecisionName(precision_)});
  if (precision_ == Precision::kF32OpenBlas) {
    ApplyOpenBlas(kernels, x, y, mode);
    return;
  }
  if (precision_ == Precision::kInt8) Quantize(kernels, x, ws);
  const int64_t panel_jobs = CeilDiv(num_panels_, kJobPanels);
  const int64_t row_jobs = CeilDiv(x.rows, kJobRows);
  ParallelFor(row_jobs * panel_jobs, [&](int64_t index) {
    const int64_t row = index / panel_jobs * x.rows / row_jobs;  // jobs of about the same size
    const int64_t rows = (index / panel_jobs + 1) * x.rows / row_jobs - row;
    const int64_t panel = index % panel_jobs * kJobPanels;
    if (precision_ == Precision::kF32) {
      auto job = PanelJob<GemmF32Job>(y, row, rows, panel, mode);
      job.a = x.Row(row);
      job.a_stride = x.stride;
      job.k = static_cast<int>(depth_);
      job.panels = f32_panels_.View().Row(panel);
      kernels.gemm_f32(job);
      return;
    }
    auto job = PanelJob<GemmS8Job>(y, row, rows, panel, mode);
    job.a = ws.values.data() + row * k_padded();
    job.a_stride = k_padded();
    job.a_scales = ws.scales.data() + row * groups();
    job.a_corrections = ws.corrections.data() + row * groups();
    job.k_padded = static_cast<int>(k_padded());
    job.group_k = kGroup;
    job.groups = static_cast<int>(groups());
    job.panels = reinterpret_cast<const uint8_t*>(s8_panels_.View().Row(panel));
    job.w_scales = s8_scales_.View().Row(panel);
    kernels.gemm_s8(job);
  });
}

// Calls of fixed row counts, the last one filled up with zeros; sums and filled-up rows lie in
// memory of the thread's own.
void Linear::ApplyOpenBlas(const KernelTable& kernels, ConstMatView x, MatView y, Mode mode) const {
  const int64_t panel_jobs = CeilDiv(num_panels_, kJobPanels);
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
                          static_cast<int>(depth_),
                          x.Row(row),
                          x.stride,
                          f32_panels_.View().Row(panel),
                          sums.Shaped(call_rows, n).data};
    if (job.rows < call_rows) {
      const MatView rows = filled.Shaped(call_rows, depth_);
      std::fill_n(rows.data, call_rows * depth_, 0.0F);
      for (int64_t r = 0; r < job.rows; ++r) std::copy_n(x.Row(row + r), depth_, rows.Row(r));
      product.a = rows.data;
      product.a_stride = depth_;
    }
    MultiplyWithOpenBlas(product);
    kernels.finish_f32(job, product.c);
  });
}

}  // namespace platen
