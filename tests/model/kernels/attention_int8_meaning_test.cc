// The meaning of the image encoder's attention in exact integers (plain_attention_int8.h): how far
// it is from attention in double, and what it does at the edges.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/plain_attention_int8.h"

namespace platen::testing {
namespace {

constexpr int kWidth = 64;

struct Head {
  int n = 0, d = kWidth;
  std::vector<float> q, k, v;

  Head(int patches, unsigned seed, double q_size = 1) : n(patches) {
    std::mt19937 rng(seed);
    std::normal_distribution<double> normal;
    for (auto* rows : {&q, &k, &v}) {
      for (int i = 0; i < n * d; ++i) {
        rows->push_back(static_cast<float>(normal(rng) * (rows == &q ? q_size : 1)));
      }
    }
  }
  float scale() const { return 1.0F / std::sqrt(static_cast<float>(d)); }
  std::vector<float> Int8(int row) const {
    std::vector<float> out(static_cast<size_t>(d));
    PlainAttentionInt8(n, d, k.data(), v.data(), scale()).Attend(q.data() + row * d, out.data());
    return out;
  }
  std::vector<double> Exact(int row) const {
    std::vector<double> p;
    double most = -1e300, sum = 0;
    for (int j = 0; j < n; ++j) {
      double dot = 0;
      for (int c = 0; c < d; ++c) dot += static_cast<double>(q[At(row, c)]) * k[At(j, c)];
      p.push_back(dot * static_cast<double>(scale()));
      most = std::max(most, p.back());
    }
    std::vector<double> out(static_cast<size_t>(d), 0.0);
    for (int j = 0; j < n; ++j) {
      const double weight = std::exp(p[static_cast<size_t>(j)] - most);
      sum += weight;
      for (int c = 0; c < d; ++c) out[static_cast<size_t>(c)] += weight * v[At(j, c)];
    }
    for (double& value : out) value /= sum;
    return out;
  }
  size_t At(int row, int c) const { return static_cast<size_t>(row * d + c); }
};

double RelativeError(const Head& head, int rows) {
  const PlainAttentionInt8 plain(head.n, head.d, head.k.data(), head.v.data(), head.scale());
  double error = 0, size = 0;
  for (int i = 0; i < rows; ++i) {
    const int row = i * head.n / rows;
    std::vector<float> out(static_cast<size_t>(head.d));
    plain.Attend(head.q.data() + row * head.d, out.data());
    const std::vector<double> exact = head.Exact(row);
    for (size_t c = 0; c < exact.size(); ++c) {
      error += std::pow(static_cast<double>(out[c]) - exact[c], 2);
      size += exact[c] * exact[c];
    }
  }
  return std::sqrt(error / size);
}

TEST(AttentionInt8Meaning, IsCloseToAttentionInDouble) {
  for (const double deviation : {1.0, 2.0, 3.0}) {
    const double error = RelativeError(Head(1000, 3, deviation), 40);
    EXPECT_LT(error, 0.025) << deviation;
    EXPECT_GT(error, 1e-4) << deviation;  // it is not the same computation
  }
}

// A few keys far above all others, with values near 0: what the others say comes back as their
// mean.
TEST(AttentionInt8Meaning, AFlatTailBesideStrongKeysIsKept) {
  Head head(1000, 5, 0.05);
  std::vector<float> direction(head.q.begin(), head.q.begin() + kWidth);
  double length = 0;
  for (const float x : direction) length += static_cast<double>(x) * x;
  for (int i = 0; i < head.n; ++i) {
    for (int c = 0; c < kWidth; ++c) head.q[head.At(i, c)] = direction[static_cast<size_t>(c)];
  }
  // Scores of these keys are 9.5 octaves above those of the others.
  const double raise = 9.5 * std::log(2.0) / (static_cast<double>(head.scale()) * length);
  for (int j = 0; j < head.n; ++j) {
    const bool strong = j % 256 == 37;
    for (int c = 0; c < kWidth; ++c) {
      if (strong)
        head.k[head.At(j, c)] += static_cast<float>(raise) * direction[static_cast<size_t>(c)];
      head.v[head.At(j, c)] =
          strong ? 0.01F * head.v[head.At(j, c)] : 0.5F + 0.3F * head.v[head.At(j, c)];
    }
  }
  EXPECT_LT(RelativeError(head, 10), 0.02);
}

TEST(AttentionInt8Meaning, ExponentialsAreIntegersNearThePowerOfTwo) {
  EXPECT_EQ(PlainAttentionInt8::Exponential(0), 32640);
  for (double x = -40; x <= 0; x += 0.00037) {
    const auto value = static_cast<float>(x);
    const int32_t e = PlainAttentionInt8::Exponential(value);
    ASSERT_NEAR(e, 32640 * std::exp2(static_cast<double>(value)), 3.1) << x;
    ASSERT_LE(e, 32640);
  }
  EXPECT_EQ(PlainAttentionInt8::Exponential(-40.1F), 0);
  EXPECT_EQ(PlainAttentionInt8::Exponential(-3e38F), 0);
}

TEST(AttentionInt8Meaning, OneKeyGivesItsValueAndEqualKeysTheirMean) {
  const Head one(1, 7);
  const std::vector<float> out = one.Int8(0);
  for (int c = 0; c < kWidth; ++c) {
    EXPECT_NEAR(out[static_cast<size_t>(c)], one.v[static_cast<size_t>(c)],
                std::abs(one.v[static_cast<size_t>(c)]) * 2.5e-7F);
  }
  for (const int n : {2, 15, 16, 17, 255, 256, 257, 513}) {
    Head flat(n, 8);
    std::fill(flat.q.begin(), flat.q.end(), 0.0F);  // equal probabilities
    const std::vector<float> mean = flat.Int8(0);
    const std::vector<double> exact = flat.Exact(0);
    for (size_t c = 0; c < exact.size(); ++c) EXPECT_NEAR(mean[c], exact[c], 0.02) << n;
    for (float& x : flat.v) x = 0.75F;
    for (const float x : flat.Int8(0)) EXPECT_NEAR(x, 0.75F, 1e-6F) << n;
  }
}

TEST(AttentionInt8Meaning, WhatIsNotFiniteSpoilsItsRowOrItsHead) {
  Head head(300, 9);
  head.q[head.At(5, 3)] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(head.Int8(5)[0]));
  EXPECT_FALSE(std::isnan(head.Int8(4)[0]));
  head.v[head.At(299, 1)] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(head.Int8(4)[0]));
}

}  // namespace
}  // namespace platen::testing
