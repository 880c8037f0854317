#include "model/training/from_scratch/token_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace platen {
namespace {

TEST(TokenSourceTest, SplitMixIsThePublishedOne) {
  SplitMix random(0);
  EXPECT_EQ(random.Next(), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(random.Next(), 0x6e789e6aa1b965f4ULL);
  EXPECT_EQ(random.Next(), 0x06c45d188009454fULL);
}

TEST(TokenSourceTest, ATextIsNumberedByItsOwnBytes) {
  const ByteText text("banana\xff");
  EXPECT_EQ(text.bytes, (std::vector<uint8_t>{'a', 'b', 'n', 0xff}));
  EXPECT_EQ(text.ids, (std::vector<TokenId>{1, 0, 2, 0, 2, 0, 3}));
  EXPECT_EQ(ByteText("").vocabulary(), 0);
}

TEST(TokenSourceTest, PiecesOfATextComeFromAllOverTheRangeAndFromNowhereElse) {
  std::string all;
  for (char c = 'a'; c <= 'z'; ++c) all += c;
  const ByteText text(all);
  TextTokens source(text, 5, 12, 4, 1);
  std::vector<bool> begins(26);
  const TokenBatch batch = source.Next(200);
  for (int64_t b = 0; b < batch.count; ++b) {
    begins[static_cast<size_t>(batch.at(b, 0))] = true;
    for (int64_t i = 1; i < 4; ++i) EXPECT_EQ(batch.at(b, i), batch.at(b, 0) + i);
  }
  for (size_t i = 0; i < 26; ++i) EXPECT_EQ(begins[i], i >= 5 && i <= 8) << i;
}

TEST(TokenSourceTest, ATextAsLongAsAPieceIsThePiece) {
  const ByteText text("abcd");
  EXPECT_EQ(TextTokens(text, 0, 4, 4, 1).Next(1).ids, text.ids);
}

TEST(TokenSourceTest, ABatchGoesOnWhereTheLastOneEnded) {
  TableTokens whole(RandomTable(8, 1), 8, 6, 2), parts(RandomTable(8, 1), 8, 6, 2);
  const TokenBatch all = whole.Next(5);
  TokenBatch some = parts.Next(2);
  const TokenBatch rest = parts.Next(3);
  some.ids.insert(some.ids.end(), rest.ids.begin(), rest.ids.end());
  EXPECT_EQ(some.ids, all.ids);
}

TEST(TokenSourceTest, OneTokenInTwentyIsNoise) {
  const std::vector<TokenId> table = RandomTable(16, 1);
  const TokenBatch batch = TableTokens(table, 16, 16, 2).Next(2000);
  int64_t right = 0, all = 0;
  for (int64_t b = 0; b < batch.count; ++b) {
    for (int64_t i = 2; i < 16; ++i, ++all) {
      const auto before = static_cast<size_t>(batch.at(b, i - 2) * 16 + batch.at(b, i - 1));
      right += batch.at(b, i) == table[before];
    }
  }
  EXPECT_NEAR(static_cast<double>(right) / static_cast<double>(all), 0.953125, 0.005);
}

}  // namespace
}  // namespace platen
