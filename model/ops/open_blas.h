// OpenBLAS for f32 products, as an alternative to the kernels of model/kernels.
//
// Its results depend on the CPU and on the core type it runs as, and with most core types also on
// how many rows a call has and where a row stands among them. So a product here is cut into calls
// of a few fixed row counts, and a shape is only used after a test has shown that a row has the
// same bits at every place of all of them (docs/NUMERICS.md). Calls use the calling thread alone,
// as long as the process was started with OPENBLAS_NUM_THREADS=1; all functions are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace platen {

// c[rows, n] = a[rows, k] * w[n, k]^T, row-major; w and c without gaps between rows.
struct RowProduct {
  int rows = 0;
  int n = 0;
  int k = 0;
  const float* a = nullptr;
  ptrdiff_t a_stride = 0;  // floats
  const float* w = nullptr;
  float* c = nullptr;
};
using RowProductFunction = std::function<void(const RowProduct&)>;

// One call of OpenBLAS.
void MultiplyWithOpenBlas(const RowProduct& product);

// Row counts of the calls: products of at most `few` rows are one call of that many, larger ones
// calls of `many`, the last one filled up with zeros.
struct OpenBlasRows {
  int few = 0;
  int many = 0;
};
// For a layer whose narrowest call has n columns.
OpenBlasRows OpenBlasRowsFor(int64_t n, int64_t k);

// Tries `multiply` with both row counts: "" if a row had the same bits at every place, beside equal
// rows, other rows and zeros; otherwise what differed. At most some 30 ms.
std::string FindRowDependence(const RowProductFunction& multiply, int64_t n, int64_t k,
                              OpenBlasRows rows);

// Throws Error(kEnvironment) if OpenBLAS fails that test. Tests a shape once.
void RequireRowIndependence(int64_t n, int64_t k, OpenBlasRows rows);

struct OpenBlasInfo {
  std::string version;  // "0.3.21"
  std::string core;     // the core type it runs as: "SkylakeX"
  int threads = 0;
};
OpenBlasInfo DescribeOpenBlas();

// The core type that suits this CPU better than `chosen`, or "": OpenBLAS falls back to slow
// kernels on CPUs newer than itself. It takes effect through the environment variable
// OPENBLAS_CORETYPE, which is read when the library is loaded.
const char* BetterOpenBlasCore(const std::string& chosen);

}  // namespace platen
