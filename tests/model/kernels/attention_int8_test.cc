// Attention in exact integers: every kernel table against its meaning (plain_attention_int8.h), bit
// for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "model/kernels/kernels.h"
#include "tests/model/kernels/framed.h"
#include "tests/model/kernels/quantized_head.h"
#include "tests/support/plain_attention_int8.h"

namespace platen {
namespace {

using testing::PlainAttentionInt8;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> Attend(const KernelTable& table, const Head& head) {
  QuantizedHead quantized(table, head);
  table.attention_int8(quantized.job);
  return quantized.result;
}

// Some rows in all tables, among them the first and the last.
void ExpectMeaning(const Head& head, const std::string& what) {
  const PlainAttentionInt8 plain(head.n, head.d, head.k.data(), head.v.data(), head.scale());
  std::vector<std::pair<std::string, std::vector<float>>> results;
  for (const KernelTable* table : Tables()) results.emplace_back(table->name, Attend(*table, head));
  std::vector<float> expected(static_cast<size_t>(head.d));
  const int step = std::max(1, head.n / 40);
  for (int i = 0; i < head.n + step; i += step) {
    const int row = std::min(i, head.n - 1);
    plain.Attend(head.q.data() + ptrdiff_t{row} * head.d, expected.data());
    for (const auto& [name, result] : results) {
      ASSERT_TRUE(SameBits(expected.data(), result.data() + ptrdiff_t{row} * head.d, head.d))
          << what << ": " << name << ", n " << head.n << ", d " << head.d << ", row " << row;
    }
  }
}

TEST(AttentionInt8, EveryTableGivesTheBitsOfItsMeaningAtEverySize) {
  unsigned seed = 1;
  for (const int n :
       {1, 2, 3, 15, 16, 17, 31, 63, 64, 65, 80, 191, 193, 255, 256, 257, 513, 1000}) {
    for (const int d : {4, 6, 8, 16, 20, 32, 40, 64, 72, 80, 128, 256}) {
      if (n > 300 && d != 20 && d != 32 && d != 64 && d != 80) continue;
      ExpectMeaning(RandomHead(n, d, ++seed), "random");
    }
  }
  ExpectMeaning(RandomHead(4801, 64, ++seed), "random");
}

TEST(AttentionInt8, EveryTableGivesTheBitsOfItsMeaningForOddContents) {
  struct Case {
    const char* what;
    std::function<void(Head&)> change;
  };
  const Case cases[] = {
      {"peaked",
       [](Head& h) {
         for (float& x : h.q) x *= 12;
       }},
      {"one key far above the others",
       [](Head& h) {
         for (int c = 0; c < h.d; ++c) h.Row(h.k, h.n / 2)[c] = 20 * h.Row(h.q, 0)[c];
       }},
      {"equal keys",
       [](Head& h) {
         for (int i = 0; i < h.n; ++i) std::copy_n(h.k.data(), h.d, h.Row(h.k, i));
       }},
      {"zero query", [](Head& h) { std::fill_n(h.Row(h.q, h.n - 1), h.d, 0.0F); }},
      {"zero keys", [](Head& h) { h.k.assign(h.k.size(), 0.0F); }},
      {"all scores below 0",
       [](Head& h) {
         for (int i = 0; i < h.n; ++i) {
           for (int c = 0; c < h.d; ++c) {
             h.Row(h.q, i)[c] = 3;
             h.Row(h.k, i)[c] = -1.0F - 0.01F * static_cast<float>((i * 7 + c) % 13);
           }
         }
       }},
      {"constant values", [](Head& h) { h.v.assign(h.v.size(), 0.7F); }},
      {"one huge channel",
       [](Head& h) {
         for (int i = 0; i < h.n; ++i) h.Row(h.v, i)[h.d / 2] *= 1e6F;
       }},
      {"tiny rows",
       [](Head& h) {
         for (auto* x : {&h.q, &h.k, &h.v}) {
           for (float& value : *x) value *= 1e-32F;
         }
       }},
      {"the least scale that counts",
       [](Head& h) {
         std::fill_n(h.Row(h.q, 0), h.d, 0.0F);
         h.Row(h.q, 0)[0] = 1e-30F;
         std::fill_n(h.Row(h.k, 0), h.d, 0.0F);
         h.Row(h.k, 0)[0] = 2e-30F;
       }},
  };
  unsigned seed = 1000;
  for (const Case& c : cases) {
    for (const int n : {5, 80, 300}) {
      for (const int d : {20, 32, 64}) {
        Head head = RandomHead(n, d, ++seed);
        c.change(head);
        ExpectMeaning(head, c.what);
      }
    }
  }
}

TEST(AttentionInt8, ANumberThatIsNoneInAQueryConcernsThatQuery) {
  for (const float bad : {kNan, kInfinity, -kInfinity, 1e30F}) {
    Head head = RandomHead(300, 64, 7);
    head.Row(head.q, 17)[3] = bad;
    ExpectMeaning(head, std::to_string(bad));
    const std::vector<float> result = Attend(BestKernels(), head);
    for (int i = 0; i < head.n * head.d; ++i) {
      ASSERT_EQ(std::isnan(result[static_cast<size_t>(i)]), i / head.d == 17);
    }
  }
}

TEST(AttentionInt8, ANumberThatIsNoneInAKeyOrAValueConcernsTheHead) {
  for (const float bad : {kNan, kInfinity, -kInfinity, 1e30F}) {
    for (const bool in_value : {false, true}) {
      Head head = RandomHead(300, 32, 8);
      head.Row(in_value ? head.v : head.k, 299)[5] = bad;
      ExpectMeaning(head, std::to_string(bad));
      for (const float x : Attend(BestKernels(), head)) ASSERT_TRUE(std::isnan(x));
    }
  }
}

// As large as a scale may be, and the next larger one.
TEST(AttentionInt8, ScalesBelowTheLimitGiveNumbers) {
  for (const float scale : {0x1.fffffep19F, 0x1p20F}) {
    Head head = RandomHead(100, 20, 9);  // no rotation: the scale is the largest value / 127
    for (int c = 0; c < head.d; ++c) head.Row(head.k, 50)[c] = c == 0 ? scale * 127.0F : 1.0F;
    ExpectMeaning(head, "limit");
    for (const float x : Attend(BestKernels(), head)) ASSERT_EQ(std::isnan(x), scale >= 0x1p20F);
  }
}

// A channel that is the same everywhere has the scale 0 and its value as the mean.
TEST(AttentionInt8, MeansBelowTheLimitGiveNumbers) {
  for (const float mean : {0x1.8p89F, 0x1p90F}) {
    Head head = RandomHead(64, 20, 11);
    for (int i = 0; i < head.n; ++i) head.Row(head.v, i)[7] = mean;
    ExpectMeaning(head, "limit");
    for (const float x : Attend(BestKernels(), head)) ASSERT_EQ(std::isnan(x), mean >= 0x1p90F);
  }
}

TEST(AttentionInt8, RowsDoNotDependOnTheRowsBesideThem) {
  const Head head = RandomHead(300, 64, 10);
  for (const KernelTable* table : Tables()) {
    QuantizedHead all(*table, head);
    table->attention_int8(all.job);
    for (const int first : {0, 1, 7, 100, 293}) {
      for (const int rows : {1, 2, 3, 5, 7}) {
        QuantizedHead some(*table, head);
        some.job.rows = rows;
        some.job.q += ptrdiff_t{first} * some.job.depth();
        some.job.q_scales += first;
        some.job.q_corrections += first;
        some.job.out += first;
        table->attention_int8(some.job);
        const ptrdiff_t at = ptrdiff_t{first} * head.d;
        ASSERT_TRUE(SameBits(all.result.data() + at, some.result.data() + at, rows * head.d))
            << table->name << ", " << rows << " rows from " << first;
      }
    }
  }
}

TEST(Hadamard, IsTheMatrixTimesItsTransposeAndTheSameInEveryTable) {
  std::mt19937 rng(4);
  for (const int n : {1, 2, 3, 4, 8, 12, 16, 32, 48, 64, 128, 256}) {
    std::uniform_int_distribution<int> integer(-1000, 1000);
    std::vector<float> x;
    for (int i = 0; i < n; ++i) x.push_back(static_cast<float>(integer(rng)));
    const bool power = (n & (n - 1)) == 0;
    std::vector<float> product;  // exact, of integers
    for (int row = 0; row < n; ++row) {
      float sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += __builtin_parity(static_cast<unsigned>(row & i)) != 0 ? -x[static_cast<size_t>(i)]
                                                                     : x[static_cast<size_t>(i)];
      }
      product.push_back(power ? sum : x[static_cast<size_t>(row)]);
    }
    for (const KernelTable* table : Tables()) {
      std::vector<float> y = x;
      y.push_back(12345);
      table->hadamard(y.data(), n);
      EXPECT_EQ(y.back(), 12345) << table->name << ", " << n;
      y.pop_back();
      EXPECT_EQ(y, product) << table->name << ", " << n;
    }
  }
}

}  // namespace
}  // namespace platen
