// The int8 product of a whole layer against its definition in plain arithmetic.
#include "model/ops/linear.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <utility>

#include "model/ops/norm.h"
#include "model/ops/swiglu.h"

namespace platen {
namespace {

Mat RandomMat(std::mt19937& rng, int64_t rows, int64_t cols) {
  std::normal_distribution<float> normal;
  Mat m(rows, cols);
  for (float& v : m.span()) v = normal(rng);
  return m;
}

struct Quantized {
  std::vector<int> values;
  std::vector<float> scales;  // one per group
};

// scale = absmax / 127, q = round-to-even(x * (127 / absmax)), per group along k.
Quantized QuantizePlain(const float* x, int64_t k, int64_t group) {
  Quantized q;
  for (int64_t begin = 0; begin < k; begin += group) {
    const int64_t end = std::min(k, begin + group);
    float absmax = 0;
    for (int64_t i = begin; i < end; ++i) absmax = std::max(absmax, std::abs(x[i]));
    const float inverse = absmax > 0 ? 127.0F / absmax : 0.0F;
    q.scales.push_back(absmax / 127.0F);
    for (int64_t i = begin; i < end; ++i) {
      q.values.push_back(static_cast<int>(std::nearbyint(x[i] * inverse)));
    }
  }
  return q;
}

// value = fma(float(dot of the group), s_a * s_w, value), groups ascending.
float DotPlain(const Quantized& a, const Quantized& w, int64_t group) {
  float value = 0;
  const auto k = static_cast<int64_t>(a.values.size());
  for (int64_t g = 0; g * group < k; ++g) {
    int dot = 0;
    for (int64_t i = g * group; i < std::min(k, (g + 1) * group); ++i) {
      dot += a.values[static_cast<size_t>(i)] * w.values[static_cast<size_t>(i)];
    }
    const float scale = a.scales[static_cast<size_t>(g)] * w.scales[static_cast<size_t>(g)];
    value = std::fma(static_cast<float>(dot), scale, value);
  }
  return value;
}

std::vector<const KernelTable*> Tables() {
  std::vector<const KernelTable*> tables;
  for (const char* name : kKernelNames) {
    if (const KernelTable* table = FindKernels(name)) tables.push_back(table);
  }
  return tables;
}

void ExpectTheDefinition(int64_t rows, int64_t n, int64_t k, int group) {
  std::mt19937 rng(static_cast<uint32_t>(k + group));
  const Mat x = RandomMat(rng, rows, k);
  const Mat w = RandomMat(rng, n, k);
  const Mat bias = RandomMat(rng, 1, n);
  const int64_t span = group == WeightFormat::kWholeDepth ? k : group;
  Mat expected(rows, n);
  for (int64_t c = 0; c < n; ++c) {
    const Quantized column = QuantizePlain(w.View().Row(c), k, span);
    for (int64_t r = 0; r < rows; ++r) {
      expected.View().Row(r)[c] =
          DotPlain(QuantizePlain(x.View().Row(r), k, span), column, span) + bias.data()[c];
    }
  }
  const Linear linear = Linear::Pack({Precision::kInt8, group}, w.View(), bias.span());
  for (const KernelTable* table : Tables()) {
    Mat y(rows, n);
    LinearWorkspace ws;
    linear.Apply(*table, x.View(), y.View(), ws);
    for (int64_t i = 0; i < rows * n; ++i) {
      ASSERT_EQ(y.data()[i], expected.data()[i])
          << table->name << " k " << k << " group " << group << " at " << i / n << ", " << i % n;
    }
  }
}

TEST(Linear, EveryGroupSizeIsItsDefinitionBitForBitOnEveryTable) {
  for (const int group : {64, 128, 192, 256, 512, WeightFormat::kWholeDepth}) {
    for (const int64_t k : {1, 63, 64, 65, 257, 449, 768}) {
      ExpectTheDefinition(7, 70, k, group);
    }
  }
}

TEST(Linear, MoreRowsThanOneJobHoldsAreTheDefinitionToo) { ExpectTheDefinition(397, 20, 300, 128); }

TEST(Linear, SmallerGroupsAreCloserToTheFloatProduct) {
  std::mt19937 rng(3);
  const Mat x = RandomMat(rng, 16, 1024);
  const Mat w = RandomMat(rng, 64, 1024);
  LinearWorkspace ws;
  const KernelTable& kernels = *FindKernels("scalar");
  Mat exact(16, 64);
  Linear::Pack(Precision::kF32, w.View(), {}).Apply(kernels, x.View(), exact.View(), ws);
  double last = 0;
  for (const int group : {64, 256, WeightFormat::kWholeDepth}) {
    Mat y(16, 64);
    Linear::Pack({Precision::kInt8, group}, w.View(), {}).Apply(kernels, x.View(), y.View(), ws);
    double squares = 0;
    for (size_t i = 0; i < y.span().size(); ++i) {
      squares += std::pow(y.span()[i] - exact.span()[i], 2);
    }
    EXPECT_GT(squares, last) << "group " << group;
    last = squares;
  }
}

// Straight to bytes, and by way of floats (as an observer forces it).
TEST(SwiGlu, QuantisedOnTheWayTheValuesBetweenGiveTheSameBits) {
  constexpr int64_t kDepth = 70, kColumns = 40;
  std::mt19937 rng(5);
  for (const int64_t inner : {32, 300, 513, 768}) {
    const Mat gate = RandomMat(rng, inner, kDepth), up = RandomMat(rng, inner, kDepth);
    const Mat w = RandomMat(rng, kColumns, inner);
    const Mat x = RandomMat(rng, 397, kDepth);
    for (const int group : {64, 192, 256, 512, 576, WeightFormat::kWholeDepth}) {
      const WeightFormat format = {Precision::kInt8, group};
      const Linear gate_up = Linear::PackSiluMul(format, gate.View(), {}, up.View(), {});
      const Linear down = Linear::Pack(format, w.View(), {});
      EXPECT_EQ(gate_up.CanFeed(down), group > 0 && group <= 512);
      for (const KernelTable* table : Tables()) {
        const Mat before = RandomMat(rng, x.rows(), kColumns);
        Mat plain(x.rows(), kColumns), fed(x.rows(), kColumns);
        std::ranges::copy(before.span(), plain.span().begin());
        std::ranges::copy(before.span(), fed.span().begin());
        LinearWorkspace ws, watched;
        int seen = 0;
        watched.observer = [&](const Linear&, ConstMatView) { ++seen; };
        ApplySwiGlu(*table, gate_up, down, x.View(), plain.View(), watched, Linear::Mode::kAddTo);
        ApplySwiGlu(*table, gate_up, down, x.View(), fed.View(), ws, Linear::Mode::kAddTo);
        EXPECT_EQ(seen, 2);
        EXPECT_EQ(ws.inner.rows() == 0, gate_up.CanFeed(down));
        ASSERT_TRUE(std::ranges::equal(plain.span(), fed.span()))
            << table->name << " inner " << inner << " group " << group;
      }
    }
  }
}

// Pieces come from several threads; each place of the result is in one of them, with Apply's bits.
TEST(Linear, PiecesAreTheResultOnce) {
  constexpr int64_t kDepth = 100;
  std::mt19937 rng(8);
  for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
    for (const auto& [unit, units] : {std::pair<int64_t, int64_t>{64, 9}, {128, 3}, {48, 7}}) {
      const Mat w = RandomMat(rng, unit * units, kDepth);
      const Linear linear = Linear::Pack(precision, w.View(), {});
      for (const KernelTable* table : Tables()) {
        for (const int64_t rows : {1, 65, 420}) {
          const Mat x = RandomMat(rng, rows, kDepth);
          Mat y(rows, w.rows()), pieces(rows, w.rows());
          std::ranges::fill(pieces.span(), 0.0F);
          LinearWorkspace ws;
          linear.Apply(*table, x.View(), y.View(), ws);
          std::atomic<bool> whole_units = true;
          const auto take = [&, width = unit](const Linear::Piece& piece) {
            const MatView& values = piece.values;
            if (piece.first_column % width != 0 || values.cols % width != 0) whole_units = false;
            for (int64_t r = 0; r < values.rows; ++r) {
              float* to = pieces.View().Row(piece.first_row + r) + piece.first_column;
              for (int64_t c = 0; c < values.cols; ++c) to[c] += std::exchange(values.Row(r)[c], 7);
            }
          };
          linear.ApplyInPieces(*table, x.View(), unit, take, ws);
          EXPECT_TRUE(whole_units);
          EXPECT_TRUE(std::ranges::equal(pieces.span(), y.span()))
              << table->name << " " << PrecisionName(precision) << " rows " << rows << " unit "
              << unit;
        }
      }
    }
  }
}

TEST(Linear, ANormTakenOnTheWayGivesTheBitsOfNormedRows) {
  constexpr int64_t kDepth = 300, kColumns = 70;
  constexpr float kEps = 1e-5F;
  std::mt19937 rng(6);
  const Mat w = RandomMat(rng, kColumns, kDepth), weight = RandomMat(rng, 1, kDepth);
  for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
    const Linear linear = Linear::Pack(precision, w.View(), {});
    for (const KernelTable* table : Tables()) {
      for (const int64_t rows : {1, 17, 200}) {
        const Mat x = RandomMat(rng, rows, kDepth);
        Mat normed(rows, kDepth), expected(rows, kColumns), y(rows, kColumns), seen;
        LinearWorkspace ws, watched;
        RmsNormRows(*table, x.View(), weight.span(), kEps, normed.View());
        linear.Apply(*table, normed.View(), expected.View(), ws);
        linear.Apply(*table, {x.View(), weight.span(), kEps}, y.View(), ws);
        EXPECT_TRUE(std::ranges::equal(y.span(), expected.span())) << table->name << " " << rows;
        watched.observer = [&](const Linear&, ConstMatView input) {
          std::copy_n(input.data, rows * kDepth, seen.Shaped(rows, kDepth).data);
        };
        linear.Apply(*table, {x.View(), weight.span(), kEps}, y.View(), watched);
        EXPECT_TRUE(std::ranges::equal(seen.span(), normed.span())) << table->name << " " << rows;
        EXPECT_TRUE(std::ranges::equal(y.span(), expected.span())) << table->name << " " << rows;
      }
    }
  }
}

TEST(WeightFormat, GroupsAreMultiplesOf64ThatKeepTheSumsExact) {
  for (const int group : {0, 64, 256, 65536}) EXPECT_TRUE(WeightFormat::IsGroup(group)) << group;
  for (const int group : {-64, 1, 63, 100, 65600}) {
    EXPECT_FALSE(WeightFormat::IsGroup(group)) << group;
  }
}

}  // namespace
}  // namespace platen
