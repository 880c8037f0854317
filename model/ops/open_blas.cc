#include "model/ops/open_blas.h"

#include <cblas.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kManyRows = 192;
constexpr int kFewRows = 64;
// Up to this many multiplications a call OpenBLAS uses another kernel, whose bits differ.
constexpr int64_t kSmallProduct = 1'000'000;

std::vector<float> RandomFloats(std::mt19937& rng, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n));
  // From the generator's bits: the library's distributions may differ between systems.
  for (float& v : values) v = static_cast<float>(rng() >> 8) * 0x1p-23F - 1.0F;
  return values;
}

// What stands beside the row that is looked at.
enum class Neighbours { kSame, kOther, kZero };

// Between two places of that row.
int Distance(Neighbours neighbours, int rows) {
  switch (neighbours) {
    case Neighbours::kSame:
      return 1;
    case Neighbours::kOther:
      return 3;
    case Neighbours::kZero:
      return rows;
  }
  return 1;
}

// a[rows, k] with `row` at every Distance-th place.
std::vector<float> MakeRows(std::mt19937& rng, const std::vector<float>& row, int rows,
                            Neighbours neighbours) {
  std::vector<float> a(static_cast<size_t>(rows) * row.size());
  if (neighbours == Neighbours::kOther) a = RandomFloats(rng, static_cast<int64_t>(a.size()));
  for (int r = 0; r < rows; r += Distance(neighbours, rows)) {
    std::copy(row.begin(), row.end(), a.begin() + static_cast<ptrdiff_t>(r * row.size()));
  }
  return a;
}

}  // namespace

void MultiplyWithOpenBlas(const RowProduct& p) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p.rows, p.n, p.k, 1.0F, p.a,
              static_cast<blasint>(p.a_stride), p.w, p.k, 0.0F, p.c, p.n);
}

OpenBlasRows OpenBlasRowsFor(int64_t n, int64_t k) {
  return {kFewRows * n * k > kSmallProduct ? kFewRows : kManyRows, kManyRows};
}

std::string FindRowDependence(const RowProductFunction& multiply, int64_t n, int64_t k,
                              OpenBlasRows call_rows) {
  std::mt19937 rng(20211);
  const std::vector<float> w = RandomFloats(rng, n * k);
  const std::vector<float> row = RandomFloats(rng, k);
  std::vector<float> expected;
  for (const int rows : {call_rows.many, call_rows.few}) {
    for (const Neighbours neighbours : {Neighbours::kSame, Neighbours::kOther, Neighbours::kZero}) {
      const std::vector<float> a = MakeRows(rng, row, rows, neighbours);
      std::vector<float> c(static_cast<size_t>(rows * n));
      multiply({rows, static_cast<int>(n), static_cast<int>(k), a.data(), k, w.data(), c.data()});
      if (expected.empty()) expected.assign(c.begin(), c.begin() + n);
      for (int r = 0; r < rows; r += Distance(neighbours, rows)) {
        if (std::memcmp(c.data() + r * n, expected.data(), expected.size() * sizeof(float)) == 0) {
          continue;
        }
        return "row " + std::to_string(r) + " of " + std::to_string(rows) +
               " has other bits than the same row at place 0 of " + std::to_string(call_rows.many) +
               " (n " + std::to_string(n) + ", k " + std::to_string(k) + ")";
      }
    }
  }
  return "";
}

void RequireRowIndependence(int64_t n, int64_t k, OpenBlasRows rows) {
  static std::mutex mutex;
  static std::set<std::tuple<int64_t, int64_t, int>> passed;
  const std::lock_guard<std::mutex> lock(mutex);
  if (passed.contains({n, k, rows.few})) return;
  const std::string found = FindRowDependence(MultiplyWithOpenBlas, n, k, rows);
  if (!found.empty()) {
    const OpenBlasInfo info = DescribeOpenBlas();
    throw Error(ErrorKind::kEnvironment, {"", "OpenBLAS " + info.version},
                "as core type " + info.core +
                    " its results depend on the batch, and so would the text: " + found +
                    "; platen's own f32 products do not");
  }
  passed.insert({n, k, rows.few});
}

OpenBlasInfo DescribeOpenBlas() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..."
  const std::string config = openblas_get_config();
  const size_t begin = config.find(' ') + 1;
  return {config.substr(begin, config.find(' ', begin) - begin), openblas_get_corename(),
          openblas_get_num_threads()};
}

const char* BetterOpenBlasCore(const std::string& chosen) {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl")) {
    const bool good = chosen == "SkylakeX" || chosen == "Cooperlake" || chosen == "SapphireRapids";
    return good ? "" : "SkylakeX";
  }
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return "";
  const bool good = chosen == "Haswell" || chosen == "Zen";
  return good ? "" : "Haswell";
}

}  // namespace platen
