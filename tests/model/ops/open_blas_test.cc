// OpenBLAS beside our own f32 product, and the test that decides whether it may be used.
#include "model/ops/open_blas.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/linear.h"
#include "model/support/error.h"

namespace platen {
namespace {

Mat RandomMat(std::mt19937& rng, int64_t rows, int64_t cols) {
  std::normal_distribution<float> normal;
  Mat m(rows, cols);
  for (float& v : m.span()) v = normal(rng);
  return m;
}

// Sums over k ascending: the same at every place.
void MultiplyInOrder(const RowProduct& p, float extra = 0) {
  for (int r = 0; r < p.rows; ++r) {
    for (int c = 0; c < p.n; ++c) {
      float sum = extra;
      for (int i = 0; i < p.k; ++i) sum += p.a[r * p.a_stride + i] * p.w[c * p.k + i];
      p.c[r * p.n + c] = sum - extra;
    }
  }
}

constexpr OpenBlasRows kRows = {4, 10};

TEST(RowDependence, AProductWithAFixedOrderHasNone) {
  EXPECT_EQ(FindRowDependence([](const RowProduct& p) { MultiplyInOrder(p); }, 9, 50, kRows), "");
}

TEST(RowDependence, IsFoundWhereTheRowCountChangesTheOrder) {
  const auto multiply = [](const RowProduct& p) { MultiplyInOrder(p, p.rows == 4 ? 3.0F : 0.0F); };
  EXPECT_EQ(FindRowDependence(multiply, 9, 50, kRows),
            "row 0 of 4 has other bits than the same row at place 0 of 10 (n 9, k 50)");
}

TEST(RowDependence, IsFoundWhereAPlaceHasAnotherOrder) {
  const auto multiply = [](const RowProduct& p) {
    MultiplyInOrder(p);
    if (p.rows != 10) return;
    RowProduct last = p;  // as a remainder kernel would
    last.rows = 1;
    last.a += 9 * p.a_stride;
    last.c += 9 * p.n;
    MultiplyInOrder(last, 3.0F);
  };
  EXPECT_EQ(FindRowDependence(multiply, 9, 50, kRows),
            "row 9 of 10 has other bits than the same row at place 0 of 10 (n 9, k 50)");
}

TEST(RowDependence, IsFoundWhereTheRowsBesideItMatter) {
  const auto multiply = [](const RowProduct& p) {
    MultiplyInOrder(p, p.a[p.a_stride] == 0.0F ? 3.0F : 0.0F);
  };
  EXPECT_NE(FindRowDependence(multiply, 9, 50, kRows), "");
}

// Five standard deviations of what the order changes in a sum of k products of normal values: k
// roundings of a partial sum that grows to sqrt(k).
double Tolerance(int64_t k) { return 5 * 0x1p-24 * static_cast<double>(k); }

TEST(OpenBlas, AgreesWithOurOwnProductWithinRounding) {
  std::mt19937 rng(5);
  for (const auto& [rows, n, k] :
       {std::array<int, 3>{192, 256, 1536}, {64, 64, 1024}, {7, 130, 33}}) {
    const Mat x = RandomMat(rng, rows, k);
    const Mat w = RandomMat(rng, n, k);
    Mat own(rows, n);
    Mat other(rows, n);
    LinearWorkspace ws;
    Linear::Pack(Precision::kF32, w.View(), {}).Apply(BestKernels(), x.View(), own.View(), ws);
    MultiplyWithOpenBlas({rows, n, k, x.View().data, k, w.View().data, other.View().data});
    for (int64_t i = 0; i < static_cast<int64_t>(rows) * n; ++i) {
      ASSERT_NEAR(own.View().data[i], other.View().data[i], Tolerance(k)) << rows << " rows, " << i;
    }
  }
}

// A layer for OpenBLAS, or nothing where OpenBLAS as it was loaded here fails the test.
std::optional<Linear> PackIfAllowed(ConstMatView w, std::span<const float> bias) {
  try {
    return Linear::Pack(Precision::kF32OpenBlas, w, bias);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kEnvironment);
    EXPECT_NE(e.reason().find("depend on the batch"), std::string::npos) << e.what();
    return std::nullopt;
  }
}

TEST(OpenBlas, ALayerMultipliesAnyNumberOfRowsOrIsRefused) {
  std::mt19937 rng(6);
  const int64_t n = 330;  // the last call is narrower
  const int64_t k = 300;
  const Mat w = RandomMat(rng, n, k);
  const Mat x = RandomMat(rng, 263, k);
  const Mat bias = RandomMat(rng, 1, n);
  const std::span<const float> bias_span = {bias.View().data, static_cast<size_t>(n)};
  const Linear own = Linear::Pack(Precision::kF32, w.View(), bias_span);
  const std::optional<Linear> blas = PackIfAllowed(w.View(), bias_span);
  if (!blas) return;
  LinearWorkspace ws;
  Mat all(263, n);
  blas->Apply(BestKernels(), x.View(), all.View(), ws);
  for (const int64_t rows : {1, 64, 65, 193, 263}) {
    SCOPED_TRACE(rows);
    Mat expected(rows, n);
    Mat actual(rows, n);
    own.Apply(BestKernels(), x.View().Rows(0, rows), expected.View(), ws);
    blas->Apply(BestKernels(), x.View().Rows(0, rows), actual.View(), ws);
    for (int64_t i = 0; i < rows * n; ++i) {
      ASSERT_NEAR(actual.View().data[i], expected.View().data[i], Tolerance(k)) << i;
      ASSERT_EQ(actual.View().data[i], all.View().data[i]) << i;  // whatever the batch
    }
  }
}

TEST(OpenBlas, PairsOfLayersAndResidualsEndAsOurOwnDo) {
  std::mt19937 rng(7);
  const Mat gate = RandomMat(rng, 96, 200);
  const Mat up = RandomMat(rng, 96, 200);
  const Mat x = RandomMat(rng, 5, 200);
  const std::optional<Linear> plain = PackIfAllowed(gate.View(), {});
  if (!plain) return;
  const Linear own_plain = Linear::Pack(Precision::kF32, gate.View(), {});
  const Linear own_pair = Linear::PackSiluMul(Precision::kF32, gate.View(), {}, up.View(), {});
  const Linear pair = Linear::PackSiluMul(Precision::kF32OpenBlas, gate.View(), {}, up.View(), {});
  LinearWorkspace ws;
  Mat expected(5, 96);
  Mat actual(5, 96);
  own_pair.Apply(BestKernels(), x.View(), expected.View(), ws);
  pair.Apply(BestKernels(), x.View(), actual.View(), ws);
  own_plain.Apply(BestKernels(), x.View(), expected.View(), ws, Linear::Mode::kAddTo);
  plain->Apply(BestKernels(), x.View(), actual.View(), ws, Linear::Mode::kAddTo);
  for (int64_t i = 0; i < 5 * 96; ++i) {
    const float value = expected.View().data[i];
    ASSERT_NEAR(actual.View().data[i], value, 20 * Tolerance(200)) << i;  // a product of two sums
  }
}

}  // namespace
}  // namespace platen
