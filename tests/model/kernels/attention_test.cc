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
#include "tests/model/kernels/attention_meaning.h"
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

  int result_width() const { return head_dim; }

  double Exact(int row, int i) const {
    return ExactAttention(q.data() + row * head_dim, {k.data(), head_dim}, {v.data(), head_dim},
                          context[row], kScale, i);
  }
};

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

}  // namespace
}  // namespace platen
