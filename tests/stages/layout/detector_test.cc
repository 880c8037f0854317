// The detector as its users see it, on pages drawn from rectangles.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <string>

#include "tests/stages/layout/drawn_page.h"
#include "tests/support/page_crops.h"

namespace platen {
namespace {

using testing::DrawnPage;
using testing::DrawProse;

using testing::CropsOf;
using testing::LinesOf;

PageLayout Detect(const Image& page) { return MakeClassicalDetector()->Detect(page); }

Image ProsePage() {
  DrawnPage page(900, 700);
  DrawProse(page, 100, 120, 14, 14, 36);
  return page.image();
}

int NumThreads() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  }
  return -1;
}

TEST(Detector, PagesWithoutTextGiveNoLines) {
  const std::pair<int, int> sizes[] = {{1, 1}, {1, 5000}, {5000, 1}, {7, 9}, {640, 480}};
  for (const auto& [width, height] : sizes) {
    for (const uint8_t paper : {uint8_t{0}, uint8_t{128}, uint8_t{255}}) {
      const PageLayout found = Detect(DrawnPage(width, height, paper).image());
      EXPECT_TRUE(found.regions.empty()) << width << " x " << height << " of " << int{paper};
      EXPECT_EQ(found.rotation, 0);
    }
  }
  EXPECT_TRUE(Detect(Image()).regions.empty());
}

TEST(Detector, NoiseIsOneRegionThatGivesNoLineCrops) {
  Image page(900, 1200);
  std::mt19937 random(20260101);
  for (int i = 0; i < 900 * 1200; ++i) {
    std::fill_n(page.rgb.begin() + 3 * i, 3, static_cast<uint8_t>(random() % 2 * 255));
  }
  const PageLayout found = Detect(page);
  ASSERT_EQ(found.regions.size(), 1u);
  EXPECT_EQ(found.regions[0].box.x1, 900);
  EXPECT_EQ(found.regions[0].box.y1, 1200);
  ReadingConfig reading;
  reading.granularity = Granularity::kLine;
  reading.line_height = 28;
  reading.x_height = 11;
  reading.baseline = 20;
  EXPECT_TRUE(CropsOf(page, found, reading).empty());
  reading.granularity = Granularity::kPage;
  EXPECT_EQ(CropsOf(page, found, reading).size(), 1u);
}

TEST(Detector, FindsEveryLineOfProseInOrder) {
  const PageLayout found = Detect(ProsePage());
  ASSERT_EQ(found.regions.size(), 1u);
  const LayoutRegion& block = found.regions[0];
  ASSERT_EQ(block.lines.size(), 14u);
  EXPECT_EQ(block.kind, RegionKind::kText);
  EXPECT_EQ(block.source, RegionSource::kLines);
  EXPECT_NEAR(found.letter_height, 14, 0.5);
  for (size_t i = 0; i < block.lines.size(); ++i) {
    const LayoutLine& line = block.lines[i];
    EXPECT_GE(line.box.y0, block.box.y0);
    EXPECT_LE(line.box.y1, block.box.y1);
    EXPECT_NEAR(line.quad[0].y + line.baseline, 120 + 36 * static_cast<int>(i), 1.0)
        << "line " << i;
  }
}

TEST(Detector, StraightensASkewedPage) {
  DrawnPage page(900, 700);
  DrawProse(page, 100, 160, 14, 12, 36);
  for (double degrees : {-2.5, -0.7, 1.5}) {
    const PageLayout found = Detect(page.Skewed(degrees));
    EXPECT_NEAR(found.skew_degrees, degrees, 0.1);
    ASSERT_EQ(LinesOf(found).size(), 12u) << degrees;
    const auto quad = LinesOf(found)[5].quad;
    const double slope = (quad[1].y - quad[0].y) / (quad[1].x - quad[0].x);
    EXPECT_NEAR(slope, std::tan(degrees * 3.14159 / 180), 0.004) << degrees;
  }
}

TEST(Detector, NoticesWhichWayUpAPageLies) {
  const Image upright = ProsePage();
  for (int turn : {0, 90, 180, 270}) {
    const Image page = RotatePage(upright, turn);
    const PageLayout found = Detect(page);
    EXPECT_EQ((found.rotation + turn) % 360, 0) << "turned by " << turn;
    EXPECT_EQ(LinesOf(found).size(), 14u) << "turned by " << turn;
    EXPECT_EQ(RotatePage(page, found.rotation).rgb, upright.rgb) << "turned by " << turn;
  }
}

// A receipt: capitals and prices. `points` false: nothing shows which way up it is.
Image ReceiptPage(bool points) {
  DrawnPage page(900, 900);
  for (int line = 0; line < 20; ++line) {
    page.Text(80, 80 + 40 * line, 14, line % 2 ? "CCC CCCC CC" : "CCCCCC CCC");
    page.Text(600, 80 + 40 * line, 14, points ? "CC.CC" : "CCCC");
  }
  return page.image();
}

TEST(Detector, TellsCapitalsAndFiguresByTheirPoints) {
  EXPECT_EQ(Detect(ReceiptPage(true)).rotation, 0);
  EXPECT_EQ(Detect(RotatePage(ReceiptPage(true), 180)).rotation, 180);
}

TEST(Detector, LeavesAPageAsItIsWhenNothingTellsWhichWayUpItLies) {
  EXPECT_EQ(Detect(ReceiptPage(false)).rotation, 0);
  EXPECT_EQ(Detect(RotatePage(ReceiptPage(false), 180)).rotation, 0);
  DrawnPage few(300, 200);
  few.Text(40, 100, 14, "xbpx Cxb");
  EXPECT_EQ(Detect(RotatePage(few.image(), 90)).rotation, 0);
}

TEST(Detector, SameResultWhateverTheThreadSetting) {
  const Image page = ProsePage();
  const std::vector<LayoutLine> many = LinesOf(Detect(page));
  KeepOpenCvSingleThreaded();
  const std::vector<LayoutLine> one = LinesOf(Detect(page));
  ASSERT_EQ(many.size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {
    for (int k = 0; k < 4; ++k) {
      EXPECT_EQ(many[i].quad[k].x, one[i].quad[k].x);
      EXPECT_EQ(many[i].quad[k].y, one[i].quad[k].y);
    }
  }
}

TEST(Detector, StartsNoThreadsOnceOpenCvIsToldNotTo) {
  KeepOpenCvSingleThreaded();
  const int before = NumThreads();
  const Image page = ProsePage();
  const PageLayout found = Detect(page);
  ReadingConfig reading;
  reading.granularity = Granularity::kLine;
  EXPECT_FALSE(CropsOf(page, found, reading).empty());
  EXPECT_EQ(NumThreads(), before);
}

}  // namespace
}  // namespace platen
