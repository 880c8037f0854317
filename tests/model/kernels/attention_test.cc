// Attention of every kernel table against the scalar one, bit for bit, and the scalar one against
// plain doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/support/bf16.h"
#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

// Query rows over keys in pages; rows beyond a context hold NaN. With bf16 the keys and values are
// rounded before anything else.
struct AttentionSetup {
  static constexpr float kScale = 0.25F;
  KvType type;
  int head_dim, page_tokens, keys;
  std::vector<int32_t> context;
  std::vector<std::vector<std::byte>> k_pages, v_pages;
  std::vector<float> k, v, q;  // plain [keys][d], [rows][d]

  AttentionSetup(std::mt19937& rng, KvType t, int d, int page, std::vector<int32_t> rows_context)
      : type(t), head_dim(d), page_tokens(page), context(std::move(rows_context)) {
    keys = *std::max_element(context.begin(), context.end());
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, size_t n) {
      values.resize(n);
      for (float& x : values) x = normal(rng);
    };
    fill(k, static_cast<size_t>(keys * d));
    fill(v, static_cast<size_t>(keys * d));
    fill(q, context.size() * static_cast<size_t>(d));
    if (type == KvType::kBf16) {
      for (float& x : k) x = FromBf16(ToBf16(x));
      for (float& x : v) x = FromBf16(ToBf16(x));
    }
    for (int first = 0; first < keys; first += page) {
      k_pages.push_back(Page(d, page, first, k));
      v_pages.push_back(Page(page, v_stride(), first, v));
    }
  }

  // A page of keys ([head_dim][page_tokens]) or of values ([page_tokens][v_stride]).
  std::vector<std::byte> Page(int rows, int columns, int first, const std::vector<float>& x) const {
    const bool is_keys = &x == &k;
    const size_t bytes = type == KvType::kBf16 ? 2 : 4;
    std::vector<std::byte> page(static_cast<size_t>(rows * columns) * bytes, std::byte{0xFF});
    for (int t = 0; t < page_tokens && first + t < keys; ++t) {
      for (int i = 0; i < head_dim; ++i) {
        const int row = is_keys ? i : t;
        const int column = is_keys ? t : i;
        const float value = x[static_cast<size_t>((first + t) * head_dim + i)];
        if (type == KvType::kBf16) {
          const uint16_t half = ToBf16(value);
          const int place = (row / 2 * columns + column) * 2 + row % 2;
          std::memcpy(page.data() + place * 2, &half, 2);
        } else {
          std::memcpy(page.data() + (row * columns + column) * 4, &value, 4);
        }
      }
    }
    return page;
  }
  int v_stride() const { return (head_dim + 15) / 16 * 16; }
  // What does not depend on the rows.
  AttentionJob Job() const {
    AttentionJob job;
    job.type = type;
    job.page_tokens = page_tokens;
    job.head_dim = head_dim;
    job.v_stride = v_stride();
    job.scale = kScale;
    return job;
  }

  std::vector<float> Run(const KernelTable& table, int first, int rows) const {
    std::vector<const void*> kp, vp;
    std::vector<const float*> qp;
    for (const auto& page : k_pages) kp.push_back(page.data());
    for (const auto& page : v_pages) vp.push_back(page.data());
    std::vector<float> out(static_cast<size_t>(rows * head_dim), kNan);
    std::vector<float*> op;
    for (int r = 0; r < rows; ++r) {
      qp.push_back(q.data() + (first + r) * head_dim);
      op.push_back(out.data() + r * head_dim);
    }
    AttentionJob job = Job();
    job.k_pages = kp.data();
    job.v_pages = vp.data();
    job.rows = rows;
    job.q = qp.data();
    job.context = context.data() + first;
    job.out = op.data();
    table.attention(job);
    return out;
  }

  double Exact(int row, int i) const {
    const int n = context[static_cast<size_t>(row)];
    std::vector<double> p(static_cast<size_t>(n));
    double max = -1e300;
    for (int t = 0; t < n; ++t) {
      for (int d = 0; d < head_dim; ++d) {
        p[t] += kScale * static_cast<double>(q[row * head_dim + d]) * k[t * head_dim + d];
      }
      max = std::max(max, p[t]);
    }
    double sum = 0;
    double value = 0;
    for (int t = 0; t < n; ++t) {
      const double e = std::exp(p[t] - max);
      sum += e;
      value += e * v[t * head_dim + i];
    }
    return value / sum;
  }
};

// One head of an image for the bf16 forms: pages of 64 keys, zeros in the padding.
struct Bf16AttentionSetup {
  static constexpr float kScale = 0.25F;
  int d, keys, depth;
  std::vector<float> q, k, v;
  std::vector<std::vector<uint16_t>> k_pages, v_pages;

  Bf16AttentionSetup(std::mt19937& rng, int head_dim, int num_keys, int rows)
      : d(head_dim), keys(num_keys), depth((head_dim + 31) / 32 * 32) {
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, int n) {
      for (int i = 0; i < n; ++i) {
        // Over many magnitudes, the smallest allowed and zero among them.
        const int exponent = static_cast<int>(rng() % 5);
        const float x = exponent == 0 ? normal(rng) * 0x1p-30F : normal(rng);
        values.push_back(std::fabs(x) < kLeastBf16 ? 0.0F : x);
      }
    };
    fill(q, rows * d);
    fill(k, keys * d);
    fill(v, keys * d);
    for (float& x : k) x = FromBf16(ToBf16(x));
    for (float& x : v) x = FromBf16(ToBf16(x));
    for (int first = 0; first < keys; first += 64) {
      std::vector<uint16_t> kp(static_cast<size_t>(depth * 64), 0);
      std::vector<uint16_t> vp = kp;
      for (int t = 0; t < 64 && first + t < keys; ++t) {
        for (int i = 0; i < d; ++i) {
          const size_t at = static_cast<size_t>((first + t) * d + i);
          kp[static_cast<size_t>((i / 2 * 64 + t) * 2 + i % 2)] = ToBf16(k[at]);
          vp[static_cast<size_t>((t / 2 * depth + i) * 2 + t % 2)] = ToBf16(v[at]);
        }
      }
      k_pages.push_back(std::move(kp));
      v_pages.push_back(std::move(vp));
    }
  }

  using Kernel = void (*KernelTable::*)(const AttentionJob&);
  std::vector<float> Run(const KernelTable& table, Kernel kernel, int first, int rows) const {
    std::vector<const void*> kp, vp;
    for (const auto& page : k_pages) kp.push_back(page.data());
    for (const auto& page : v_pages) vp.push_back(page.data());
    std::vector<float> out(static_cast<size_t>(rows * d), kNan);
    std::vector<const float*> qp;
    std::vector<float*> op;
    const std::vector<int32_t> context(static_cast<size_t>(rows), keys);
    for (int r = 0; r < rows; ++r) {
      qp.push_back(q.data() + (first + r) * d);
      op.push_back(out.data() + r * d);
    }
    AttentionJob job;
    job.type = KvType::kBf16;
    job.k_pages = kp.data();
    job.v_pages = vp.data();
    job.page_tokens = 64;
    job.head_dim = d;
    job.v_stride = depth;
    job.rows = rows;
    job.q = qp.data();
    job.scale = kScale;
    job.context = context.data();
    job.out = op.data();
    (table.*kernel)(job);
    return out;
  }

  void ExpectNearExact(const std::vector<float>& actual) const {
    const int rows = static_cast<int>(q.size()) / d;
    for (int r = 0; r < rows; ++r) {
      std::vector<double> p(static_cast<size_t>(keys));
      double sum = 0;
      for (int t = 0; t < keys; ++t) {
        double s = 0;
        for (int i = 0; i < d; ++i) s += static_cast<double>(q[r * d + i]) * k[t * d + i];
        sum += p[static_cast<size_t>(t)] = std::exp(s * kScale);
      }
      for (int i = 0; i < d; ++i) {
        double value = 0;
        for (int t = 0; t < keys; ++t) value += p[static_cast<size_t>(t)] * v[t * d + i];
        // Queries and probabilities have 8 bits.
        ASSERT_NEAR(actual[static_cast<size_t>(r * d + i)], value / sum, 0.06)
            << "d " << d << " keys " << keys << " row " << r;
      }
    }
  }
};

void ExpectDoublesAndSameBits(const AttentionSetup& s, const std::string& what) {
  const int rows = static_cast<int>(s.context.size());
  const int d = s.head_dim;
  const std::vector<float> expected = s.Run(*FindKernels("scalar"), 0, rows);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < d; ++i) {
      ASSERT_NEAR(expected[r * d + i], s.Exact(r, i), 1e-5) << what << " row " << r;
    }
  }
  for (const KernelTable* table : Tables()) {
    const std::vector<float> actual = s.Run(*table, 0, rows);
    EXPECT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)), 0)
        << table->name << what;
    for (const int few : {1, 2, 3, 5, 6}) {  // each has its own tiles
      for (int r = 0; r + few <= rows; ++r) {
        const std::vector<float> some = s.Run(*table, r, few);
        EXPECT_EQ(std::memcmp(some.data(), expected.data() + r * d, some.size() * sizeof(float)), 0)
            << table->name << what << " rows " << r << " .. " << r + few - 1;
      }
    }
  }
}

TEST(AttentionKernel, MatchesDoublesAndAllTablesGiveTheSameBits) {
  std::mt19937 rng(5);
  const std::vector<int32_t> context = {1,   2,   15,  16,  17,  31,  33,
                                        255, 256, 257, 300, 511, 513, 600};
  for (const int d : {16, 20, 24, 32, 64, 128}) {
    for (const int page : {16, 32, 64, 128, 256}) {
      for (const KvType type : {KvType::kF32, KvType::kBf16}) {
        ExpectDoublesAndSameBits(AttentionSetup(rng, type, d, page, context),
                                 std::string(type == KvType::kF32 ? " f32" : " bf16") + ", d " +
                                     std::to_string(d) + ", page " + std::to_string(page));
      }
    }
  }
}

// Several heads with the same contexts, their pages side by side in memory.
struct HeadsSetup {
  std::vector<AttentionSetup> heads;
  std::vector<std::vector<std::byte>> keys, values;  // [pages], of all heads

  HeadsSetup(std::mt19937& rng, int num_heads, KvType type, int d, int page,
             const std::vector<int32_t>& context) {
    for (int h = 0; h < num_heads; ++h) heads.emplace_back(rng, type, d, page, context);
    const auto together = [&](const auto& pages_of) {
      std::vector<std::vector<std::byte>> pages(heads[0].k_pages.size());
      for (size_t p = 0; p < pages.size(); ++p) {
        for (const AttentionSetup& head : heads) {
          const auto& own = pages_of(head)[p];
          pages[p].insert(pages[p].end(), own.begin(), own.end());
        }
      }
      return pages;
    };
    keys = together([](const AttentionSetup& s) -> const auto& { return s.k_pages; });
    values = together([](const AttentionSetup& s) -> const auto& { return s.v_pages; });
  }

  // [heads][rows][d]
  std::vector<float> Run(const KernelTable& table) const {
    const AttentionSetup& one = heads[0];
    const size_t rows = one.context.size(), d = static_cast<size_t>(one.head_dim);
    std::vector<const void*> kp, vp;
    for (const auto& page : keys) kp.push_back(page.data());
    for (const auto& page : values) vp.push_back(page.data());
    std::vector<float> out(heads.size() * rows * d, kNan);
    std::vector<const float*> qp;
    std::vector<float*> op;
    std::vector<int32_t> context;
    for (const AttentionSetup& head : heads) {
      for (size_t r = 0; r < rows; ++r) {
        op.push_back(out.data() + qp.size() * d);
        qp.push_back(head.q.data() + r * d);
        context.push_back(head.context[r]);
      }
    }
    AttentionHeadsJob job;
    job.first = one.Job();
    job.first.k_pages = kp.data();
    job.first.v_pages = vp.data();
    job.first.rows = static_cast<int>(rows);
    job.first.q = qp.data();
    job.first.context = context.data();
    job.first.out = op.data();
    job.heads = static_cast<int>(heads.size());
    job.k_head_bytes = static_cast<ptrdiff_t>(one.k_pages[0].size());
    job.v_head_bytes = static_cast<ptrdiff_t>(one.v_pages[0].size());
    table.attention_heads(job);
    return out;
  }
};

TEST(AttentionHeads, HeadsTogetherAreTheHeadsAloneInEveryTable) {
  std::mt19937 rng(10);
  const std::vector<std::vector<int32_t>> contexts = {
      {1}, {33}, {150, 150}, {255, 256, 257}, {40, 41, 42, 43}, {513, 1, 600, 31, 300, 256, 16, 2}};
  for (const auto& context : contexts) {
    const int rows = static_cast<int>(context.size());
    for (const int num_heads : {1, 2, 3, 8}) {
      for (const int d : {20, 64, 128}) {
        for (const int page : {16, 32, 256}) {
          for (const KvType type : {KvType::kF32, KvType::kBf16}) {
            const HeadsSetup s(rng, num_heads, type, d, page, context);
            std::vector<float> expected;
            for (const AttentionSetup& head : s.heads) {
              const std::vector<float> alone = head.Run(*FindKernels("scalar"), 0, rows);
              expected.insert(expected.end(), alone.begin(), alone.end());
            }
            for (const KernelTable* table : Tables()) {
              const std::vector<float> actual = s.Run(*table);
              ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * 4), 0)
                  << table->name << ", heads " << num_heads << ", rows " << rows << ", d " << d
                  << ", page " << page << (type == KvType::kF32 ? ", f32" : ", bf16");
            }
          }
        }
      }
    }
  }
}

// The last key of all is the first of its pair; what lies beside it is not a number.
TEST(AttentionKernel, AnOddNumberOfBf16KeysEndsBeforeThePair) {
  std::mt19937 rng(8);
  for (const int keys : {1, 3, 33, 255, 257}) {
    ExpectDoublesAndSameBits(AttentionSetup(rng, KvType::kBf16, 32, 32, {keys, keys}),
                             ", keys " + std::to_string(keys));
  }
}

TEST(AttentionKernel, ManyRowsAreTheRowsAlone) {
  std::mt19937 rng(6);
  std::vector<int32_t> context(395);  // more than two tiles of rows
  for (size_t r = 0; r < context.size(); ++r) context[r] = 1 + static_cast<int32_t>(r * 53 % 530);
  const AttentionSetup s(rng, KvType::kF32, 24, 64, context);
  const int rows = static_cast<int>(context.size());
  for (const KernelTable* table : Tables()) {
    const std::vector<float> together = s.Run(*table, 0, rows);
    for (int r = 0; r < rows; ++r) {
      const std::vector<float> alone = s.Run(*table, r, 1);
      ASSERT_EQ(std::memcmp(alone.data(), together.data() + r * 24, alone.size() * sizeof(float)),
                0)
          << table->name << " row " << r;
    }
  }
}

TEST(AttentionKernel, ScoresOfAnySizeAreFinite) {
  std::mt19937 rng(7);
  for (const float size : {1e-12F, 1e4F, 1e12F}) {
    AttentionSetup s(rng, KvType::kF32, 32, 32, {300, 40, 1});
    for (float& q : s.q) q *= size;
    const std::vector<float> expected = s.Run(*FindKernels("scalar"), 0, 3);
    for (int r = 0; r < 3; ++r) {
      for (int i = 0; i < 32; ++i) EXPECT_NEAR(expected[r * 32 + i], s.Exact(r, i), 1e-5) << size;
    }
    for (const KernelTable* table : Tables())
      EXPECT_EQ(s.Run(*table, 0, 3), expected) << table->name;
  }
}

void ExpectSameBitsNearTheExactResult(Bf16AttentionSetup::Kernel kernel) {
  std::mt19937 rng(9);
  for (const int d : {4, 16, 32, 48, 64, 80, 96, 128, 256}) {
    for (const int keys : {1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 530}) {
      const int rows = 1 + keys % 53;
      const Bf16AttentionSetup s(rng, d, keys, rows);
      const std::vector<float> expected = s.Run(*FindKernels("scalar"), kernel, 0, rows);
      s.ExpectNearExact(expected);
      for (const KernelTable* table : Tables()) {
        const std::vector<float> actual = s.Run(*table, kernel, 0, rows);
        ASSERT_EQ(std::memcmp(actual.data(), expected.data(), actual.size() * sizeof(float)), 0)
            << table->name << " d " << d << " keys " << keys;
        const std::vector<float> last = s.Run(*table, kernel, rows - 1, 1);
        ASSERT_EQ(std::memcmp(last.data(), expected.data() + (rows - 1) * d, last.size() * 4), 0)
            << table->name << " d " << d << " keys " << keys << ", the last row alone";
      }
    }
  }
}

TEST(Bf16AttentionKernel, AllTablesGiveTheSameBitsNearTheExactResult) {
  ExpectSameBitsNearTheExactResult(&KernelTable::attention_bf16);
}

TEST(Bf16DotAttentionKernel, AllTablesGiveTheSameBitsNearTheExactResult) {
  ExpectSameBitsNearTheExactResult(&KernelTable::attention_bf16_dot);
}

// 2^24 + 1 - 2^24 is 0 where 1 is added to 2^24, which rounds it away, and 1 where it comes last;
// so the score of one key tells the order.
TEST(Bf16DotAttentionKernel, AddsTheSecondOfAPairFirst) {
  const auto output_for = [](const KernelTable& table, const std::array<float, 4>& query) {
    std::vector<uint16_t> keys(16 * 64 * 2, 0), values(32 * 32 * 2, 0);
    for (int i = 0; i < 4; ++i) {  // key 0 is all ones, key 1 all zeros
      keys[static_cast<size_t>((i / 2 * 64) * 2 + i % 2)] = ToBf16(1.0F);
    }
    for (int i = 0; i < 32; ++i) values[static_cast<size_t>(i * 2)] = ToBf16(1.0F);  // of key 0
    std::vector<float> q(32, 0.0F), out(32, kNan);
    // The kernel scales by log2(e) before it rounds; the scale takes that back but for rounding.
    std::copy(query.begin(), query.end(), q.begin());
    const void* k_pages[] = {keys.data()};
    const void* v_pages[] = {values.data()};
    const float* qs[] = {q.data()};
    float* outs[] = {out.data()};
    const int32_t context[] = {2};
    AttentionJob job;
    job.type = KvType::kBf16;
    job.k_pages = k_pages;
    job.v_pages = v_pages;
    job.page_tokens = 64;
    job.head_dim = job.v_stride = 32;
    job.rows = 1;
    job.q = qs;
    job.scale = 1.0F / 1.44269504F;
    job.context = context;
    job.out = outs;
    table.attention_bf16_dot(job);
    return out[0];
  };
  for (const KernelTable* table : Tables()) {
    // The order is query[1], query[0], query[3], query[2]. Key 0 weighs 2^s / (2^s + 1).
    EXPECT_FLOAT_EQ(output_for(*table, {0x1p24F, 0.0F, 1.0F, -0x1p24F}), 2.0F / 3.0F)
        << table->name;
    EXPECT_FLOAT_EQ(output_for(*table, {0.0F, 0x1p24F, -0x1p24F, 1.0F}), 0.5F) << table->name;
  }
}

}  // namespace
}  // namespace platen
