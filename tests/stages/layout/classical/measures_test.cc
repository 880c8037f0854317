// Letter height, skew, baseline and x-height from components of known size.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "stages/layout/classical/letter_height.h"
#include "stages/layout/classical/line_metrics.h"
#include "stages/layout/classical/skew.h"
#include "stages/layout/geometry.h"

namespace platen::layout {
namespace {

Component Glyph(int x, int y, int width, int height) {
  return {x, y, width, height, width * height / 2, 0};
}

// Rows of letters: two thirds x-height, the rest with ascender; the rows fall by `degrees`.
std::vector<Component> Letters(int x_height, int rows, double degrees) {
  std::vector<Component> letters;
  const double slope = std::tan(degrees * 3.14159265358979 / 180);
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < 40; ++i) {
      const int height = i % 3 ? x_height : x_height * 3 / 2;
      const int x = 100 + i * x_height;
      const int bottom = 200 + row * 3 * x_height + static_cast<int>(std::lround(slope * x));
      letters.push_back(Glyph(x, bottom - height, x_height * 3 / 4, height));
    }
  }
  return letters;
}

Phrase LineOf(const std::vector<Box>& letters) { return {letters, Union(letters)}; }

// A line of letters 8 wide, by height above and depth below a baseline at 100.
Phrase Line(const std::vector<std::pair<double, double>>& extents) {
  std::vector<Box> letters;
  for (size_t i = 0; i < extents.size(); ++i) {
    const double x = 10 * static_cast<double>(i);
    letters.push_back({x, 100 - extents[i].first, x + 8, 100 + extents[i].second});
  }
  return LineOf(letters);
}

constexpr std::pair<double, double> kSmall = {10, 0}, kAscender = {15, 0}, kDescender = {10, 4},
                                    kCapital = {14, 0};

TEST(Quantile, InterpolatesBetweenNeighbours) {
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(Quantile({5}, 0.3), 5);
}

TEST(LetterHeight, IsThatOfSmallLetters) {
  for (int x_height : {8, 14, 30}) {
    const auto found = LetterHeight(Letters(x_height, 10, 0));
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(*found, x_height, 0.13 * x_height);
  }
}

TEST(LetterHeight, IgnoresSpecksAndRulings) {
  std::vector<Component> components = Letters(14, 6, 0);
  for (int i = 0; i < 500; ++i) components.push_back(Glyph(3 * i, 20, 2, 5));
  for (int i = 0; i < 50; ++i) components.push_back(Glyph(0, 30 * i, 900, 6));
  EXPECT_NEAR(LetterHeight(components).value(), 14, 1);
}

TEST(LetterHeight, NeedsThreeLetters) {
  EXPECT_FALSE(LetterHeight({}).has_value());
  EXPECT_FALSE(LetterHeight({Glyph(0, 0, 8, 12), Glyph(20, 0, 8, 12)}).has_value());
  EXPECT_FALSE(LetterHeight({Glyph(0, 0, 2, 2), Glyph(9, 0, 2, 2), Glyph(5, 5, 2, 2)}).has_value());
}

TEST(Skew, IsFoundToATwentiethOfADegree) {
  for (double degrees : {-4.3, -0.5, 0.26, 1.0, 5.5}) {
    EXPECT_NEAR(FindSkew(Letters(14, 12, degrees), 14), degrees, 0.05);
  }
}

TEST(Skew, IsZeroForStraightPagesAndForTooFewLetters) {
  EXPECT_EQ(FindSkew(Letters(14, 12, 0), 14), 0);
  std::vector<Component> few = Letters(14, 1, 3);
  few.resize(19);
  EXPECT_EQ(FindSkew(few, 14), 0);
}

TEST(LineContrast, TellsTextFromNoise) {
  std::vector<Component> noise;
  std::mt19937 random(5);
  for (int i = 0; i < 4000; ++i) {
    noise.push_back(
        Glyph(static_cast<int>(random() % 2000), static_cast<int>(random() % 3000), 10, 14));
  }
  EXPECT_LT(LineContrast(noise, 14, 0), 1.4);
  EXPECT_GT(LineContrast(Letters(14, 12, 0), 14, 0), 3);
}

TEST(LineMetrics, TheBaselineIsWhereMostLettersStand) {
  const Phrase prose = Line({kSmall, kAscender, kDescender, kSmall, kSmall, kAscender, kDescender,
                             kSmall, kSmall, kAscender});
  const PageMetrics page({prose, prose, prose, prose}, {0, 0, 0, 0}, 10);
  const LineMetrics metrics = page.Measure(prose, 0);
  EXPECT_NEAR(metrics.baseline, 100, 0.1);
  EXPECT_NEAR(metrics.letter_height, 10, 0.1);
  EXPECT_NEAR(metrics.ascent, 15, 0.1);
  EXPECT_NEAR(metrics.descent, 4, 0.1);
  EXPECT_NEAR(page.x_height(), 10, 0.1);
  // More descenders than letters on the baseline.
  const Phrase tails = Line({kDescender, kSmall, kDescender});
  EXPECT_NEAR(page.Measure(tails, 0).baseline, 100, 0.1);
}

TEST(LineMetrics, CapitalsAreNotTakenForLargeSmallLetters) {
  const Phrase prose = Line({kSmall, kAscender, kSmall, kSmall, kSmall, kAscender, kSmall});
  const Phrase capitals = Line(std::vector<std::pair<double, double>>(8, kCapital));
  const PageMetrics mixed({prose, prose, prose, capitals}, {0, 0, 0, 0}, 10);
  EXPECT_EQ(mixed.Measure(capitals, 0).letter_height, 0) << "like the page's";
  const PageMetrics only({capitals, capitals, capitals}, {0, 0, 0}, 14);
  EXPECT_NEAR(only.x_height(), 10, 0.5);
}

TEST(LineMetrics, CapitalsBesideTheirOwnScatterAreNoSmallLetters) {
  // A till's receipt: capitals of about 15, one letter in twelve small, brackets above.
  std::vector<std::pair<double, double>> typed;
  for (int i = 0; i < 60; ++i) {
    const double cap = i % 5 == 0 ? 16 : 15;
    typed.emplace_back(i % 12 == 0 ? 12 : i % 15 == 1 ? 17.5 : cap, 0);
  }
  const Phrase line = Line(typed);
  const PageMetrics page({line, line}, {0, 0}, 15);
  EXPECT_LT(page.x_height(), 12.5);
  EXPECT_GT(page.x_height(), 10);
}

TEST(LineMetrics, AHeadlineHasItsOwnSize) {
  const Phrase prose = Line({kSmall, kAscender, kSmall, kSmall, kSmall, kAscender, kSmall});
  std::vector<Box> large;
  for (int i = 0; i < 8; ++i) large.push_back({30.0 * i, i % 3 ? 70.0 : 55.0, 30.0 * i + 24, 100});
  const PageMetrics page({prose, prose, prose}, {0, 0, 0}, 10);
  EXPECT_NEAR(page.Measure(LineOf(large), 0).letter_height, 30, 0.5);
}

}  // namespace
}  // namespace platen::layout
