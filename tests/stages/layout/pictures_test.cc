// Pictures and texture on drawn pages: found, kept as regions, not read as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "stages/layout/layout.h"
#include "stages/layout/scale_image.h"
#include "tests/stages/layout/drawn_page.h"

namespace platen {
namespace {

using testing::DrawnPage;

// Patches of many tones and sizes, as in a photograph.
void AddPhoto(DrawnPage& page, int x0, int y0, int x1, int y1) {
  page.Fill(x0, y0, x1, y1, 150);
  unsigned state = 5;
  const auto next = [&](int n) {
    return static_cast<int>((state = state * 1664525u + 1013904223u) / 65536 %
                            static_cast<unsigned>(n));
  };
  for (int i = 0; i < 400; ++i) {
    const int x = x0 + next(x1 - x0 - 40), y = y0 + next(y1 - y0 - 40);
    page.Fill(x, y, x + 3 + next(36), y + 3 + next(36), static_cast<uint8_t>(40 + next(160)));
  }
}

struct Found {
  int lines = 0, figures = 0;
  BoxF figure;
};

Found Detect(const Image& image) {
  Found found;
  for (const LayoutRegion& region : MakeClassicalDetector()->Detect(image).regions) {
    found.lines += static_cast<int>(region.lines.size());
    if (region.kind != RegionKind::kFigure) continue;
    ++found.figures;
    found.figure = region.box;
    EXPECT_FALSE(region.read);
    EXPECT_TRUE(region.lines.empty());
  }
  return found;
}

TEST(Pictures, AreKeptAsRegionsAndNotRead) {
  DrawnPage page(1000, 1400);
  page.Prose(120, 8);
  AddPhoto(page, 150, 480, 850, 900);
  page.Prose(980, 8);
  const Found found = Detect(page.image());
  EXPECT_EQ(found.lines, 16);
  ASSERT_EQ(found.figures, 1);
  EXPECT_NEAR(found.figure.x0, 150, 25);
  EXPECT_NEAR(found.figure.y0, 480, 25);
  EXPECT_NEAR(found.figure.x1, 850, 25);
  EXPECT_NEAR(found.figure.y1, 900, 25);
}

TEST(Pictures, PlainTextHasNone) {
  DrawnPage page(1000, 1400);
  page.Prose(120, 28);
  const Found found = Detect(page.image());
  EXPECT_EQ(found.lines, 28);
  EXPECT_EQ(found.figures, 0);
}

TEST(Pictures, TextOnGreyPaperIsNoPicture) {
  DrawnPage page(1000, 1400, 170);
  page.Prose(120, 28);
  const Found found = Detect(page.image());
  EXPECT_EQ(found.lines, 28);
  EXPECT_EQ(found.figures, 0);
}

TEST(Pictures, ColumnsOfFiguresAreNone) {
  DrawnPage page(1000, 1400);
  for (int row = 0; row < 20; ++row) {
    for (int column = 0; column < 4; ++column)
      page.Text(100 + 220 * column, 120 + 50 * row, 14, "CCC");
  }
  const Found found = Detect(page.image());
  EXPECT_EQ(found.lines, 80);
  EXPECT_EQ(found.figures, 0);
}

TEST(SquarePixels, ComeFromTheResolution) {
  Image fax(204, 98);
  double x = 204, y = 98;
  MakePixelsSquare(fax, x, y);
  EXPECT_EQ(fax.width, 204);
  EXPECT_EQ(fax.height, 204);
  EXPECT_EQ(x, 204);
  EXPECT_EQ(y, 204);
}

TEST(SquarePixels, AreLeftWhereTheFileSaysNothingOrNonsense) {
  for (const auto& [dpi_x, dpi_y] :
       {std::pair{0.0, 98.0}, {200.0, 0.0}, {200.0, 196.0}, {600.0, 72.0}, {-1.0, 5.0}}) {
    Image image(30, 20);
    double x = dpi_x, y = dpi_y;
    MakePixelsSquare(image, x, y);
    EXPECT_EQ(image.width, 30);
    EXPECT_EQ(image.height, 20);
    EXPECT_EQ(x, dpi_x);
  }
}

}  // namespace
}  // namespace platen
