// Specks, stripes and texture. Letters are uprights of 4 x 14 pixels with a foot, a row every 34;
// xh = 14.
#include <gtest/gtest.h>

#include <opencv2/imgproc.hpp>

#include "stages/layout/classical/letter_height.h"
#include "stages/layout/classical/pictures.h"
#include "stages/layout/classical/specks.h"
#include "stages/layout/classical/stripes.h"

namespace platen::layout {
namespace {

constexpr double kXHeight = 14;
constexpr int kStep = 17;  // from letter to letter

void DrawLetter(int x, int y, cv::Mat& ink) {
  ink(cv::Rect(x, y, 4, 14)).setTo(1);
  ink(cv::Rect(x, y + 11, 12, 3)).setTo(1);
}

cv::Mat Print() {
  cv::Mat ink = cv::Mat::zeros(400, 900, CV_8U);
  for (int y = 20; y < 180; y += 34) {
    for (int x = 50; x < 600; x += kStep) DrawLetter(x, y, ink);
  }
  return ink;
}

void DrawDisc(int x, int y, cv::Mat& ink) { cv::circle(ink, {x, y}, 3, cv::Scalar(1), -1); }

// Discs in the lower half of the page, none on one height with its neighbours.
void DrawDirt(int count, cv::Mat& ink) {
  for (int i = 0; i < count; ++i)
    DrawDisc(20 + 43 * (i % 20), 210 + 31 * (i / 20) + i % 7 * 4, ink);
}

cv::Mat WithoutSpecks(const cv::Mat& page) {
  cv::Mat ink = page.clone();
  Components components = FindComponents(ink);
  RemoveSpecks(kXHeight, ink, components);
  EXPECT_EQ(components.items.size(), FindComponents(ink).items.size());
  return ink;
}

bool Same(const cv::Mat& a, const cv::Mat& b) { return cv::countNonZero(a != b) == 0; }

TEST(Specks, GoWhereAPageIsStrewnWithThem) {
  const cv::Mat print = Print();
  cv::Mat dirty = print.clone();
  DrawDirt(100, dirty);
  EXPECT_TRUE(Same(WithoutSpecks(dirty), print));
}

TEST(Specks, StayWhereTheyAreFew) {
  cv::Mat page = Print();
  DrawDirt(20, page);
  EXPECT_TRUE(Same(WithoutSpecks(page), page));
}

TEST(Specks, PointsBesideLettersAndLeadersAreNone) {
  cv::Mat print = Print();
  for (int y = 20; y < 180; y += 34) {
    DrawDisc(50 + 12 + 33 * kStep, y + 11, print);                   // a full stop
    DrawDisc(54, y - 6, print);                                      // of an i
    for (int x = 640; x < 880; x += 15) DrawDisc(x, y + 11, print);  // leaders
  }
  cv::Mat dirty = print.clone();
  DrawDirt(100, dirty);
  const cv::Mat clean = WithoutSpecks(dirty);
  // The last dot of a row has no neighbour on its right.
  EXPECT_TRUE(Same(clean.colRange(0, 860), print.colRange(0, 860)));
}

TEST(Specks, DoNotSetTheHeightOfLetters) {
  cv::Mat page = Print();
  DrawDirt(100, page);
  EXPECT_NEAR(LetterHeight(FindComponents(page).items).value(), kXHeight, 1);
}

std::vector<Box> LettersOf(const cv::Mat& ink) {
  std::vector<Box> letters;
  for (const Component& c : FindComponents(ink).items) letters.push_back(c.box());
  return letters;
}

TEST(Stripes, ThroughPrintAreTaken) {
  std::vector<Ruling> verticals = {{305, 1, 399}, {305, 20, 380}};
  const std::vector<Box> stripes = TakeStripes(LettersOf(Print()), 400, kXHeight, verticals);
  ASSERT_EQ(stripes.size(), 1u);
  EXPECT_EQ(stripes[0].y1, 399);
  ASSERT_EQ(verticals.size(), 1u) << "a ruling that ends within the page stays";
  EXPECT_EQ(verticals[0].from, 20);
}

TEST(Stripes, BetweenColumnsStay) {
  cv::Mat page = Print();
  page.colRange(290, 325).setTo(0);
  std::vector<Ruling> verticals = {{308, 0, 400}};
  EXPECT_TRUE(TakeStripes(LettersOf(page), 400, kXHeight, verticals).empty());
  EXPECT_EQ(verticals.size(), 1u);
}

Phrase Row(double x, int letters) {
  Phrase line;
  for (int i = 0; i < letters; ++i) line.letters.push_back({x + 12 * i, 100, x + 12 * i + 9, 114});
  line.box = Union(line.letters);
  return line;
}

TEST(Texture, IsAFewLettersOnTheEdgeOfAPhotographNotOfADrawing) {
  Pictures pictures;
  pictures.toned = {{200, 50, 400, 300}};
  const auto kept = [&](const Phrase& line) { return DropTexture(pictures, {line}).size() == 1; };
  EXPECT_FALSE(kept(Row(180, 4)));
  EXPECT_TRUE(kept(Row(140, 4))) << "beside it";
  EXPECT_TRUE(kept(Row(180, 12))) << "a line that begins before it";
  pictures.boxes = pictures.toned;
  pictures.toned.clear();
  EXPECT_TRUE(kept(Row(180, 4))) << "a label";
}

}  // namespace
}  // namespace platen::layout
