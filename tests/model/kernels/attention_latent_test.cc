// Attention over latents: every kernel table against the scalar one, bit for bit, and the scalar
// one against plain doubles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/support/bf16.h"
#include "tests/model/kernels/attention_meaning.h"
#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

// Query rows over latents in pages; places behind the last latent hold NaN. With bf16 the latents
// are rounded before anything else.
struct LatentSetup {
  static constexpr float kScale = 0.25F;
  KvType type;
  int key_width, value_width, page_tokens, keys;
  std::vector<int32_t> context;
  std::vector<std::vector<std::byte>> pages;
  std::vector<float> k, q;  // plain [keys][key_width], [rows][key_width]

  LatentSetup(std::mt19937& rng, KvType t, int key_values, int values, int page,
              std::vector<int32_t> rows_context)
      : type(t),
        key_width(key_values),
        value_width(values),
        page_tokens(page),
        keys(*std::ranges::max_element(rows_context)),
        context(std::move(rows_context)),
        k(static_cast<size_t>(keys * key_width)),
        q(context.size() * static_cast<size_t>(key_width)) {
    std::normal_distribution<float> normal;
    for (float& x : k) x = type == KvType::kBf16 ? FromBf16(ToBf16(normal(rng))) : normal(rng);
    for (float& x : q) x = normal(rng);
    for (int first = 0; first < keys; first += page) pages.push_back(Page(first));
  }

  std::vector<std::byte> Page(int first) const {
    const size_t bytes = type == KvType::kBf16 ? 2 : 4;
    std::vector<std::byte> page(static_cast<size_t>(key_width * page_tokens) * bytes,
                                std::byte{0xFF});
    for (int t = 0; t < page_tokens && first + t < keys; ++t) {
      for (int i = 0; i < key_width; ++i) {
        const float value = k[static_cast<size_t>((first + t) * key_width + i)];
        if (type == KvType::kBf16) {
          const uint16_t half = ToBf16(value);
          std::memcpy(page.data() + ((i / 2 * page_tokens + t) * 2 + i % 2) * 2, &half, 2);
        } else {
          std::memcpy(page.data() + (i * page_tokens + t) * 4, &value, 4);
        }
      }
    }
    return page;
  }

  // With something that is read next: it must change nothing.
  std::vector<float> Run(const KernelTable& table, int first, int rows) const {
    const std::vector<std::byte> elsewhere(100000);
    return Run(table, first, rows, elsewhere);
  }

  std::vector<float> Run(const KernelTable& table, int first, int rows,
                         std::span<const std::byte> next) const {
    std::vector<const void*> at;
    std::vector<const float*> qp;
    for (const auto& page : pages) at.push_back(page.data());
    std::vector<float> out(static_cast<size_t>(rows * value_width) + 1, kNan);
    std::vector<float*> op;
    for (int r = 0; r < rows; ++r) {
      qp.push_back(q.data() + (first + r) * key_width);
      op.push_back(out.data() + r * value_width);
    }
    table.attention_latent(
        {type,
         at.data(),
         page_tokens,
         key_width,
         value_width,
         rows,
         qp.data(),
         kScale,
         context.data() + first,
         op.data(),
         {at.data(), static_cast<int>(at.size()), next.data(), std::ssize(next)}});
    EXPECT_TRUE(std::isnan(out.back())) << "wrote behind the results";
    out.pop_back();
    return out;
  }

  int result_width() const { return value_width; }

  // The values are the keys' first dimensions.
  double Exact(int row, int i) const {
    const PlainRows latents{k.data(), key_width};
    return ExactAttention(q.data() + row * key_width, latents, latents, context[row], kScale, i);
  }
};

TEST(LatentAttention, MatchesDoublesAndAllTablesGiveTheSameBits) {
  std::mt19937 rng(15);
  const std::vector<int32_t> context = {1, 2, 15, 16, 17, 33, 255, 256, 257, 300, 513, 600};
  const std::vector<std::pair<int, int>> widths = {{28, 20}, {8, 8}, {30, 19}, {160, 128}};
  for (const auto& [keys, values] : widths) {
    for (const int page : {16, 64, 256}) {
      for (const KvType type : {KvType::kF32, KvType::kBf16}) {
        ExpectDoublesAndSameBits(LatentSetup(rng, type, keys, values, page, context),
                                 std::string(type == KvType::kF32 ? " f32" : " bf16") +
                                     ", widths " + std::to_string(keys) + " and " +
                                     std::to_string(values) + ", page " + std::to_string(page));
      }
    }
  }
}

TEST(LatentAttention, TheWidestLatentsAreThoseOfDeepSeek) {
  std::mt19937 rng(16);
  for (const KvType type : {KvType::kF32, KvType::kBf16}) {
    ExpectDoublesAndSameBits(LatentSetup(rng, type, kMaxLatentWidth, 512, 64, {70, 3, 300}),
                             "the widest");
  }
}

TEST(LatentAttention, ManyRowsAreTheRowsAlone) {
  std::mt19937 rng(17);
  std::vector<int32_t> context(150);  // more than two tiles of rows
  for (size_t r = 0; r < context.size(); ++r) context[r] = 1 + static_cast<int32_t>(r * 53 % 530);
  const LatentSetup s(rng, KvType::kBf16, 28, 20, 64, context);
  const int rows = static_cast<int>(context.size());
  for (const KernelTable* table : Tables()) {
    const std::vector<float> together = s.Run(*table, 0, rows);
    for (int r = 0; r < rows; ++r) {
      const std::vector<float> alone = s.Run(*table, r, 1);
      ASSERT_EQ(std::memcmp(alone.data(), together.data() + r * 20, alone.size() * sizeof(float)),
                0)
          << table->name << " row " << r;
    }
  }
}

// Nothing, less than a page, some pages, and more than a job has time for.
TEST(LatentAttention, WhatIsFetchedChangesNoBit) {
  std::mt19937 rng(18);
  for (const KvType type : {KvType::kF32, KvType::kBf16}) {
    const LatentSetup s(rng, type, 28, 20, 32, {300, 299, 300, 4, 300, 31, 300, 300});
    for (const KernelTable* table : Tables()) {
      const std::vector<float> expected = s.Run(*table, 0, 8, {});
      for (const size_t bytes : {1, 100, 5000, 64000, 3000000}) {
        const std::vector<std::byte> next(bytes);
        const std::vector<float> results = s.Run(*table, 0, 8, next);
        EXPECT_EQ(std::memcmp(results.data(), expected.data(), expected.size() * sizeof(float)), 0)
            << table->name << ", " << bytes << " bytes";
      }
    }
  }
}

}  // namespace
}  // namespace platen
