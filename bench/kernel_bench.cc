#include "bench/kernel_bench.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>

#include "model/support/error.h"

namespace platen::bench {
namespace {

struct Shape {
  const char* layer;
  int64_t n, k;
};

// The released model's linears that matter; a silu pair counts both factors.
constexpr Shape kShapes[] = {{"text qkv", 4096, 1536},       {"text o_proj", 1536, 2048},
                             {"text gate_up", 9216, 1536},   {"text down", 1536, 4608},
                             {"vision qkv", 3072, 1024},     {"vision proj", 1024, 1024},
                             {"vision gate_up", 8192, 1024}, {"vision down", 1024, 4096}};
constexpr Shape kHead = {"lm_head", 59392, 1536};
constexpr int64_t kFewRows = 4;  // up to here weights stream from memory

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Mat RandomMat(int64_t rows, int64_t cols, uint32_t seed) {
  Mat m(rows, cols);
  std::minstd_rand rng(seed);
  for (float& v : m.span()) v = static_cast<float>(rng() % 2001) * 1e-3F - 1.0F;
  return m;
}

// Times `call` beside the peak; the work of one call in operations.
KernelRow Measure(KernelRow row, double operations, int repetitions,
                  const std::function<double()>& peak, const std::function<double()>& peak_now,
                  const std::function<void()>& call) {
  call();  // warm up
  std::vector<double> rates;
  std::vector<double> peaks;
  std::vector<double> peaks_now;
  // Short calls are repeated inside one measurement.
  const double start = SecondsNow();
  call();
  const int inner = std::max(1, static_cast<int>(0.02 / std::max(1e-6, SecondsNow() - start)));
  for (int i = 0; i < repetitions; ++i) {
    peaks.push_back(peak());
    const double begin = SecondsNow();
    for (int j = 0; j < inner; ++j) call();
    rates.push_back(operations * inner / (SecondsNow() - begin) * 1e-9);
    peaks_now.push_back(peak_now());
    peaks.push_back(peak());
  }
  row.gops = Median(rates);
  row.gops_min = *std::min_element(rates.begin(), rates.end());
  row.gops_max = *std::max_element(rates.begin(), rates.end());
  row.peak_gops = Median(peaks);
  row.share = row.gops / row.peak_gops;
  row.peak_now_gops = Median(peaks_now);
  row.share_now = row.gops / row.peak_now_gops;
  return row;
}

// Several copies of the weights, so that together they exceed any last-level cache.
std::vector<Linear> Copies(const Mat& weights, Precision precision, int64_t bytes_wanted) {
  std::vector<Linear> copies;
  int64_t bytes = 0;
  do {
    copies.push_back(Linear::Pack(precision, weights.View(), {}));
    bytes += static_cast<int64_t>(copies.back().bytes());
  } while (bytes < bytes_wanted);
  return copies;
}

// One copy; none if OpenBLAS may not serve this shape on this CPU.
std::vector<Linear> CopiesIfAllowed(const Mat& weights, Precision precision) {
  try {
    return Copies(weights, precision, 0);
  } catch (const Error&) {
    return {};
  }
}

KernelRow BenchLinear(const KernelTable& kernels, Precision precision, const Shape& shape,
                      int64_t rows, const std::vector<Linear>& copies, bool from_memory,
                      int repetitions) {
  KernelRow row;
  row.kernel = std::string(PrecisionName(precision)) + " gemm";
  row.layer = shape.layer;
  row.rows = rows;
  row.n = shape.n;
  row.k = shape.k;
  row.bound = from_memory ? "memory" : "compute";
  const Mat x = RandomMat(rows, shape.k, 7);
  Mat y(rows, shape.n);
  LinearWorkspace ws;
  size_t next = 0;
  const double operations = 2.0 * static_cast<double>(rows * shape.n * shape.k);
  const auto peak = [&] {
    const Peaks p = MeasurePeaks(kernels.name, from_memory);
    if (from_memory) {
      const double bytes = static_cast<double>(copies[0].bytes());
      return p.dram_gbytes_per_s * operations / bytes;
    }
    return precision == Precision::kInt8 ? p.int8_gops : p.f32_gflops;
  };
  const auto peak_now = [&] {
    return MeasurePeakNow(kernels.name, precision == Precision::kInt8);
  };
  return Measure(row, operations, repetitions, peak, peak_now, [&] {
    copies[next].Apply(kernels, x.View(), y.View(), ws);
    next = (next + 1) % copies.size();
  });
}

// One head of 64 over all patches of an image.
KernelRow BenchAttention(const KernelTable& kernels, int64_t patches, int repetitions) {
  constexpr int kDim = 64;
  constexpr int64_t kPage = 64;
  const int64_t pages = (patches + kPage - 1) / kPage;
  const Mat keys = RandomMat(pages, kPage * kDim, 1);
  const Mat values = RandomMat(pages, kPage * kDim, 2);
  const Mat queries = RandomMat(patches, kDim, 3);
  Mat out(patches, kDim);
  std::vector<const float*> k_pages, v_pages, q;
  std::vector<float*> o;
  std::vector<int32_t> context(static_cast<size_t>(patches), static_cast<int32_t>(patches));
  for (int64_t p = 0; p < pages; ++p) {
    k_pages.push_back(keys.View().Row(p));
    v_pages.push_back(values.View().Row(p));
  }
  for (int64_t r = 0; r < patches; ++r) {
    q.push_back(queries.View().Row(r));
    o.push_back(out.View().Row(r));
  }
  AttentionJob job;
  job.k_pages = k_pages.data();
  job.v_pages = v_pages.data();
  job.page_tokens = kPage;
  job.head_dim = kDim;
  job.v_stride = kDim;
  job.rows = static_cast<int>(patches);
  job.q = q.data();
  job.context = context.data();
  job.out = o.data();
  KernelRow row;
  row.kernel = "f32 attention";
  row.layer = "vision head";
  row.rows = patches;
  row.n = patches;
  row.k = kDim;
  row.bound = "compute";
  const double operations = 4.0 * static_cast<double>(patches * patches) * kDim;
  return Measure(
      row, operations, repetitions, [&] { return MeasurePeaks(kernels.name, false).f32_gflops; },
      [&] { return MeasurePeakNow(kernels.name, /*int8=*/false); },
      [&] { kernels.attention(job); });
}

}  // namespace

std::vector<KernelRow> RunKernelBench(const KernelTable& kernels,
                                      const KernelBenchOptions& options) {
  std::vector<KernelRow> rows;
  for (const Precision precision : options.precisions) {
    for (const Shape& shape : kShapes) {
      const Mat weights = RandomMat(shape.n, shape.k, 5);
      const std::vector<Linear> copies = CopiesIfAllowed(weights, precision);
      for (const int64_t m : options.rows) {
        if (copies.empty() || m < kFewRows * 2) continue;
        rows.push_back(
            BenchLinear(kernels, precision, shape, m, copies, false, options.repetitions));
      }
    }
  }
  const Mat head = RandomMat(kHead.n, kHead.k, 6);
  for (const Precision precision : options.precisions) {
    if (precision == Precision::kF32OpenBlas) continue;  // its calls have 64 rows at least
    const std::vector<Linear> copies = Copies(head, precision, int64_t{500} << 20);
    for (const int64_t m : options.rows) {
      if (m > 64) continue;
      rows.push_back(
          BenchLinear(kernels, precision, kHead, m, copies, m <= kFewRows, options.repetitions));
    }
  }
  for (const int64_t patches : {256, 1024, 4800}) {
    rows.push_back(BenchAttention(kernels, patches, options.repetitions));
  }
  return rows;
}

}  // namespace platen::bench
