// Where the words of a line are said to stand.
#include "stages/words.h"

#include <gtest/gtest.h>

#include <random>

namespace platen {
namespace {

using Quad = std::array<ResultPoint, 4>;
const Quad kLine = {{{0, 10}, {1000, 10}, {1000, 50}, {0, 50}}};

TEST(EstimateWords, EndAtTheGapsWhereTheyAgreeWithTheSpaces) {
  const std::vector<WordGap> gaps = {{0.30F, 0.34F}, {0.60F, 0.66F}};
  const auto words = EstimateWords("brown foxes jumped", {}, kLine, gaps);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_NEAR(words[0].quad[0].x, 0, 1e-3);
  EXPECT_NEAR(words[0].quad[1].x, 300, 1e-3);
  EXPECT_NEAR(words[1].quad[0].x, 340, 1e-3);
  EXPECT_NEAR(words[1].quad[2].x, 600, 1e-3);
  EXPECT_NEAR(words[2].quad[3].x, 660, 1e-3);
  EXPECT_NEAR(words[2].quad[1].x, 1000, 1e-3);
  EXPECT_EQ(words[2].quad[3].y, 50);
  EXPECT_EQ(words[1].begin, 6);
  EXPECT_EQ(words[1].end, 11);
}

TEST(EstimateWords, AGapTooManyIsPassedOver) {
  const std::vector<WordGap> gaps = {
      {0.10F, 0.12F}, {0.31F, 0.34F}, {0.45F, 0.47F}, {0.60F, 0.66F}};
  const auto words = EstimateWords("brown foxes jumped", {}, kLine, gaps);
  ASSERT_EQ(words.size(), 3U);
  EXPECT_NEAR(words[0].quad[1].x, 310, 1e-3);
  EXPECT_NEAR(words[1].quad[1].x, 600, 1e-3);
}

TEST(EstimateWords, WithoutGapsTheyAreSharedOutByTheWidthsOfLetters) {
  const auto words = EstimateWords("nnnn nnnn", {}, kLine, {});
  ASSERT_EQ(words.size(), 2U);
  EXPECT_NEAR(words[0].quad[1].x, 1000 * 8.0 / 17, 1e-6);
  EXPECT_NEAR(words[1].quad[0].x, 1000 * 9.0 / 17, 1e-6);
  // A gap far from every space says nothing.
  const auto other = EstimateWords("nnnn nnnn", {}, kLine, std::vector<WordGap>{{0.9F, 0.95F}});
  EXPECT_EQ(other[0].quad[1].x, words[0].quad[1].x);
}

TEST(EstimateWords, FollowALineThatRisesAndAreAsSureAsTheirLeastToken) {
  const Quad rising = {{{0, 100}, {100, 0}, {120, 20}, {20, 120}}};
  const std::vector<TokenResult> tokens = {{2, 0.9}, {4, 0.5}, {9, 0.8}};
  const auto words =
      EstimateWords("nnnn nnnn", tokens, rising, std::vector<WordGap>{{0.45F, 0.55F}});
  ASSERT_EQ(words.size(), 2U);
  EXPECT_NEAR(words[0].quad[1].x, 45, 1e-4);
  EXPECT_NEAR(words[0].quad[1].y, 55, 1e-4);
  EXPECT_EQ(words[0].confidence, 0.5);
  EXPECT_EQ(words[1].confidence, 0.8);
}

TEST(EstimateWords, NoTextNoWords) {
  EXPECT_TRUE(EstimateWords("", {}, kLine, {}).empty());
  EXPECT_TRUE(EstimateWords("   ", {}, kLine, std::vector<WordGap>{{0.1F, 0.2F}}).empty());
}

TEST(EstimateWords, StandSideBySideWithinTheLineWhateverTheTextAndTheGaps) {
  std::mt19937 random(20261124);
  const std::vector<std::string> letters = {"n", " ", "m", "é", "中", ".", "W", " "};
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (size_t i = random() % 30; i > 0; --i) text += letters[random() % letters.size()];
    std::vector<WordGap> gaps;
    float at = 0;
    for (size_t i = random() % 12; i > 0; --i) {
      const float start = at + (1 - at) * static_cast<float>(random() % 50) / 100;
      at = start + (1 - start) * static_cast<float>(random() % 10) / 100;
      gaps.push_back({start, at});
    }
    double right = -1e-6;
    int end = 0;
    for (const WordResult& word : EstimateWords(text, {}, kLine, gaps)) {
      ASSERT_GE(word.begin, end) << text;
      ASSERT_GT(word.end, word.begin) << text;
      ASSERT_EQ(text.find(' ', static_cast<size_t>(word.begin)),
                word.end == static_cast<int>(text.size()) ? std::string::npos
                                                          : static_cast<size_t>(word.end));
      ASSERT_GE(word.quad[0].x, right - 1e-6) << text;
      ASSERT_GE(word.quad[1].x, word.quad[0].x - 1e-6) << text;
      ASSERT_LE(word.quad[1].x, 1000 + 1e-6) << text;
      end = word.end;
      right = word.quad[1].x;
    }
  }
}

}  // namespace
}  // namespace platen
