#include "bench/kernel_bench.h"

#include <algorithm>
#include <limits>

#include "bench/attention_bench.h"
#include "bench/measure_kernel.h"
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
constexpr int64_t kMostRows = std::numeric_limits<int64_t>::max();
constexpr int64_t kMostHeadRows = 64;

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
  const auto peak_now = [&] { return MeasurePeakNow(kernels.name, precision == Precision::kInt8); };
  KernelRow measured = MeasureKernel(row, operations, repetitions, {peak, peak_now}, [&] {
    copies[next].Apply(kernels, x.View(), y.View(), ws);
    next = (next + 1) % copies.size();
  });
  measured.bound = row.bound;
  return measured;
}

std::vector<int64_t> RowsBetween(const KernelBenchOptions& options, int64_t least, int64_t most) {
  std::vector<int64_t> rows;
  for (const int64_t m : options.rows) {
    if (least <= m && m <= most) rows.push_back(m);
  }
  return rows;
}

void BenchLayers(const KernelTable& kernels, const KernelBenchOptions& options,
                 std::vector<KernelRow>& rows) {
  const std::vector<int64_t> wanted = RowsBetween(options, kFewestRows, kMostRows);
  if (wanted.empty()) return;
  for (const Precision precision : options.precisions) {
    for (const Shape& shape : kShapes) {
      if (!options.Wants(shape.layer)) continue;
      const Mat weights = RandomMat(shape.n, shape.k, 5);
      const std::vector<Linear> copies = Copies(weights, precision, 0);
      for (const int64_t m : wanted) {
        rows.push_back(
            BenchLinear(kernels, precision, shape, m, copies, false, options.repetitions));
      }
    }
  }
}

void BenchHead(const KernelTable& kernels, const KernelBenchOptions& options,
               std::vector<KernelRow>& rows) {
  const std::vector<int64_t> wanted = RowsBetween(options, 1, kMostHeadRows);
  if (wanted.empty() || !options.Wants(kHead.layer)) return;
  const Mat head = RandomMat(kHead.n, kHead.k, 6);
  for (const Precision precision : options.precisions) {
    const std::vector<Linear> copies = Copies(head, precision, int64_t{500} << 20);
    for (const int64_t m : wanted) {
      rows.push_back(BenchLinear(kernels, precision, kHead, m, copies, true, options.repetitions));
    }
  }
}

void BenchAttention(const KernelTable& kernels, const KernelBenchOptions& options,
                    std::vector<KernelRow>& rows) {
  if (options.Wants(kVisionHead)) {
    for (const int64_t patches : {256, 1024, 4800}) {
      for (const auto attention : {VisionAttention::kF32, VisionAttention::kInt8}) {
        rows.push_back(BenchVisionAttention(kernels, attention, patches, options.repetitions));
      }
    }
  }
  if (options.Wants(kDecodeStep)) {
    constexpr int64_t kContext = 150;  // with 32 sequences 0.7 GB in f32
    for (const int64_t sequences : {8, 32}) {
      for (const KvType type : {KvType::kF32, KvType::kBf16}) {
        rows.push_back(
            BenchDecodeAttention(kernels, type, sequences, kContext, options.repetitions));
      }
    }
  }
}

}  // namespace

bool KernelBenchOptions::Wants(const std::string& layer) const {
  return layers.empty() || std::find(layers.begin(), layers.end(), layer) != layers.end();
}

std::vector<std::string> KernelBenchLayers() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.layer);
  for (const char* name : {kHead.layer, kVisionHead, kDecodeStep}) names.emplace_back(name);
  return names;
}

std::vector<KernelRow> RunKernelBench(const KernelTable& kernels,
                                      const KernelBenchOptions& options) {
  std::vector<KernelRow> rows;
  BenchLayers(kernels, options, rows);
  BenchHead(kernels, options, rows);
  BenchAttention(kernels, options, rows);
  return rows;
}

}  // namespace platen::bench
