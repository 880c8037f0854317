// Light print on dark ground, on drawn pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stages/layout/layout.h"
#include "tests/stages/layout/drawn_page.h"

namespace platen {
namespace {

using testing::DrawnPage;

// Tones between `y0` and `y1` become their opposites, as far as `ground` allows.
Image Inverted(const Image& image, int y0, int y1, int ground = 0) {
  Image out = image;
  for (int y = y0; y < y1; ++y) {
    for (int i = 0; i < 3 * out.width; ++i) {
      out.Row(y)[i] = static_cast<uint8_t>(ground + (255 - out.Row(y)[i]) * (255 - ground) / 255);
    }
  }
  return out;
}

struct Found {
  int lines = 0, light = 0;
};

Found Detect(const Image& image) {
  Found found;
  for (const LayoutRegion& region : MakeClassicalDetector()->Detect(image).regions) {
    for (const LayoutLine& line : region.lines) {
      ++found.lines;
      found.light += line.light_on_dark;
    }
  }
  return found;
}

TEST(DarkGround, AnInvertedPageHasTheLinesOfThePage) {
  DrawnPage page(1000, 1400);
  page.Prose(120, 20);
  EXPECT_EQ(Detect(page.image()).lines, 20);
  EXPECT_EQ(Detect(page.image()).light, 0);
  for (const int ground : {0, 60, 100}) {
    const Found found = Detect(Inverted(page.image(), 0, 1400, ground));
    EXPECT_EQ(found.lines, 20) << "ground " << ground;
    EXPECT_EQ(found.light, 20) << "ground " << ground;
  }
}

TEST(DarkGround, ABannerIsReadWithThePage) {
  DrawnPage page(1000, 1400);
  page.Prose(80, 2);
  page.Prose(240, 20);
  const Found found = Detect(Inverted(page.image(), 30, 160, 40));
  EXPECT_EQ(found.lines, 22);
  EXPECT_EQ(found.light, 2);
}

TEST(DarkGround, ABlockInTheMiddleIsReadWithThePage) {
  DrawnPage page(1000, 1400);
  page.Prose(80, 8);
  page.Prose(460, 4);
  page.Prose(700, 8);
  const Found found = Detect(Inverted(page.image(), 420, 600));
  EXPECT_EQ(found.lines, 20);
  EXPECT_EQ(found.light, 4);
}

TEST(DarkGround, BarsAndBordersWithoutPrintChangeNothing) {
  DrawnPage page(1000, 1400);
  page.Prose(120, 20);
  page.Fill(0, 0, 1000, 40);
  page.Fill(0, 0, 30, 1400);
  page.Fill(100, 1000, 900, 1100);
  const Found found = Detect(page.image());
  EXPECT_EQ(found.lines, 20);
  EXPECT_EQ(found.light, 0);
}

TEST(DarkGround, ALightPanelOnADarkPageStaysAsItIs) {
  DrawnPage page(1000, 1400);
  page.Prose(120, 20);
  Image panel = Inverted(page.image(), 0, 1400);
  for (int y = 490; y < 690; ++y) std::copy_n(page.image().Row(y), 3 * 1000, panel.Row(y));
  for (int y = 490; y < 690; ++y) {  // the panel does not reach the page's edges
    std::fill_n(panel.Row(y), 3 * 40, uint8_t{0});
    std::fill_n(panel.Row(y) + 3 * 960, 3 * 40, uint8_t{0});
  }
  const Found found = Detect(panel);
  EXPECT_EQ(found.lines, 20);
  EXPECT_EQ(found.light, 15);
}

}  // namespace
}  // namespace platen
