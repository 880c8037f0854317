#include "bench/kernel_bench.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "model/support/bf16.h"
#include "model/support/clock.h"
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
constexpr int64_t kFewestRows = 8;  // of the layers that fit the last-level cache
constexpr int64_t kMostHeadRows = 64;

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
  const int64_t start_ns = MonotonicNs();
  call();
  const int inner = std::max(1, static_cast<int>(0.02 / std::max(1e-6, SecondsSince(start_ns))));
  for (int i = 0; i < repetitions; ++i) {
    peaks.push_back(peak());
    const int64_t begin_ns = MonotonicNs();
    for (int j = 0; j < inner; ++j) call();
    rates.push_back(operations * inner / SecondsSince(begin_ns) * 1e-9);
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

// `from_memory`: the copies exceed the last-level cache, so reading them once is a limit, too.
KernelRow BenchLinear(const KernelTable& kernels, Precision precision, const Shape& shape,
                      int64_t rows, const std::vector<Linear>& copies, bool from_memory,
                      int repetitions) {
  KernelRow row;
  row.kernel = std::string(PrecisionName(precision)) + " gemm";
  row.layer = shape.layer;
  row.rows = rows;
  row.n = shape.n;
  row.k = shape.k;
  row.bound = "compute";
  const Mat x = RandomMat(rows, shape.k, 7);
  Mat y(rows, shape.n);
  LinearWorkspace ws;
  size_t next = 0;
  const double operations = 2.0 * static_cast<double>(rows * shape.n * shape.k);
  const auto peak = [&] {
    const Peaks p = MeasurePeaks(kernels.name, from_memory);
    const double compute = precision == Precision::kInt8 ? p.int8_gops : p.f32_gflops;
    if (!from_memory) return compute;
    const double bytes = static_cast<double>(copies[0].bytes());
    const double memory = p.dram_gbytes_per_s * operations / bytes;
    if (memory < compute) row.bound = "memory";
    return std::min(memory, compute);
  };
  const auto peak_now = [&] {
    return MeasurePeakNow(kernels.name, precision == Precision::kInt8);
  };
  KernelRow measured = Measure(row, operations, repetitions, peak, peak_now, [&] {
    copies[next].Apply(kernels, x.View(), y.View(), ws);
    next = (next + 1) % copies.size();
  });
  measured.bound = row.bound;
  return measured;
}

// One head of 64 over all patches of an image; the products in f32 or on bf16 values.
KernelRow BenchAttention(const KernelTable& kernels, KvType type, int64_t patches,
                         int repetitions) {
  constexpr int kDim = 64;
  constexpr int64_t kPage = 64;
  const int64_t pages = (patches + kPage - 1) / kPage;
  Mat keys = RandomMat(pages, kPage * kDim, 1);
  Mat values = RandomMat(pages, kPage * kDim, 2);
  if (type == KvType::kBf16) {  // the upper half of the numbers, in place
    for (Mat* m : {&keys, &values}) {
      auto* halves = reinterpret_cast<uint16_t*>(m->data());
      for (size_t i = 0; i < m->span().size(); ++i) halves[i] = ToBf16(m->data()[i]);
    }
  }
  const Mat queries = RandomMat(patches, kDim, 3);
  Mat out(patches, kDim);
  std::vector<const void*> k_pages, v_pages;
  std::vector<const float*> q;
  std::vector<float*> o;
  std::vector<int32_t> context(static_cast<size_t>(patches), static_cast<int32_t>(patches));
  for (int64_t p = 0; p < pages; ++p) {
    const int64_t floats = p * kPage * kDim / (type == KvType::kF32 ? 1 : 2);
    k_pages.push_back(keys.data() + floats);
    v_pages.push_back(values.data() + floats);
  }
  for (int64_t r = 0; r < patches; ++r) {
    q.push_back(queries.View().Row(r));
    o.push_back(out.View().Row(r));
  }
  AttentionJob job;
  job.type = type;
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
  row.kernel = type == KvType::kF32 ? "f32 attention" : "bf16 attention";
  row.layer = "vision head";
  row.rows = patches;
  row.n = patches;
  row.k = kDim;
  row.bound = "compute";
  const double operations = 4.0 * static_cast<double>(patches * patches) * kDim;
  return Measure(
      row, operations, repetitions, [&] { return MeasurePeaks(kernels.name, false).f32_gflops; },
      [&] { return MeasurePeakNow(kernels.name, /*int8=*/false); },
      [&] { (type == KvType::kF32 ? kernels.attention : kernels.attention_bf16)(job); });
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
        if (copies.empty() || m < kFewestRows) continue;
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
      if (m > kMostHeadRows) continue;
      rows.push_back(BenchLinear(kernels, precision, kHead, m, copies, true, options.repetitions));
    }
  }
  for (const int64_t patches : {256, 1024, 4800}) {
    for (const KvType type : {KvType::kF32, KvType::kBf16}) {
      rows.push_back(BenchAttention(kernels, type, patches, options.repetitions));
    }
  }
  return rows;
}

}  // namespace platen::bench
