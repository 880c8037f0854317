// Places in whole pixels of the image, and lines as words.
#include "stages/formats/placed_page.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stages/formats/html_text.h"

namespace platen {
namespace {

std::array<ResultPoint, 4> Quad(double x0, double y0, double x1, double y1) {
  return {{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}};
}

LineResult Line(const std::string& text, const std::array<ResultPoint, 4>& quad) {
  LineResult line;
  line.text = text;
  line.quad = quad;
  line.confidence = {3, 0.9, 0.5};
  return line;
}

PageResult Page(std::vector<LineResult> lines) {
  PageResult page;
  page.page = 1;
  page.width = 100;
  page.height = 200;
  page.regions.emplace_back();
  page.regions[0].box = {10, 20, 60, 90};
  page.regions[0].lines = std::move(lines);
  return page;
}

std::string Text(const PixelBox& box) {
  std::string text;
  for (const int side : {box.x0, box.y0, box.x1, box.y1}) text += std::to_string(side) + " ";
  return text;
}

std::string FirstLineBox(const PageResult& page) {
  return Text(PlaceOnImage(page).regions.at(0).lines.at(0).place.box);
}

TEST(PlacedPage, BoxesAreWholePixelsAroundTheQuad) {
  const PlacedPage page = PlaceOnImage(Page({Line("a", Quad(10.4, 20.6, 30.2, 40.9))}));
  EXPECT_EQ(Text(page.regions[0].lines[0].place.box), "10 20 31 41 ");
  EXPECT_FALSE(page.regions[0].lines[0].place.slanted);
  EXPECT_EQ(Text(page.regions[0].place.box), "10 20 60 90 ");
}

// An upright page of 100 x 200 was a file of 200 x 100 before it was turned by 90 or 270 degrees.
TEST(PlacedPage, TurnedPagesAreTurnedBack) {
  PageResult page = Page({Line("a", Quad(10, 20, 40, 30))});
  page.dpi_x = 300;
  page.dpi_y = 200;
  page.rotation = 90;  // the file's bottom left is the page's top left
  EXPECT_EQ(FirstLineBox(page), "20 60 30 90 ");
  const PlacedPage left = PlaceOnImage(page);
  EXPECT_EQ(left.width, 200);
  EXPECT_EQ(left.height, 100);
  EXPECT_EQ(left.dpi_x, 200);
  EXPECT_EQ(left.regions[0].lines[0].text_angle, 90);
  page.rotation = 180;
  EXPECT_EQ(FirstLineBox(page), "60 170 90 180 ");
  EXPECT_EQ(PlaceOnImage(page).regions[0].lines[0].text_angle, 180);
  page.rotation = 270;
  EXPECT_EQ(FirstLineBox(page), "170 10 180 40 ");
  EXPECT_EQ(PlaceOnImage(page).regions[0].lines[0].text_angle, 270);
}

// Every pixel of a file, turned clockwise as RotatePage does, is found again where it was.
TEST(PlacedPage, IsTheInverseOfTurningThePage) {
  constexpr int kWidth = 5, kHeight = 3;
  for (const int rotation : {0, 90, 180, 270}) {
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        int upright_x = x, upright_y = y, width = kWidth, height = kHeight;
        for (int turned = 0; turned < rotation; turned += 90) {  // a quarter clockwise
          const int from_x = upright_x;
          upright_x = height - 1 - upright_y;
          upright_y = from_x;
          std::swap(width, height);
        }
        PageResult page =
            Page({Line("a", Quad(upright_x, upright_y, upright_x + 1, upright_y + 1))});
        page.width = width;
        page.height = height;
        page.rotation = rotation;
        EXPECT_EQ(FirstLineBox(page), Text({x, y, x + 1, y + 1})) << rotation;
      }
    }
  }
}

TEST(PlacedPage, AStretchedPageHasThePixelsOfItsFile) {
  PageResult page = Page({Line("a", Quad(10, 20, 40, 30))});
  page.dpi_x = page.dpi_y = 200;
  page.in_file = {100, 100, 200, 100};
  EXPECT_EQ(FirstLineBox(page), "10 10 40 15 ");
  EXPECT_EQ(PlaceOnImage(page).height, 100);
  EXPECT_EQ(PlaceOnImage(page).dpi_y, 100);
  page.rotation = 90;
  page.in_file = {200, 50, 200, 100};
  EXPECT_EQ(FirstLineBox(page), "20 30 30 45 ");
}

TEST(PlacedPage, SlantedLinesKeepTheirQuadAndBaseline) {
  LineResult line = Line("a", {{{10, 20}, {50, 24}, {49, 34}, {9, 30}}});
  line.baseline = {{{9, 27.5}, {49, 31.5}}};
  const PlacedLine placed = PlaceOnImage(Page({line})).regions[0].lines[0];
  EXPECT_TRUE(placed.place.slanted);
  EXPECT_EQ(placed.place.quad[1], (Pixel{50, 24}));
  EXPECT_EQ(Text(placed.place.box), "9 20 50 34 ");
  ASSERT_TRUE(placed.baseline);
  EXPECT_EQ(placed.baseline->at(0).y, 27.5);
  EXPECT_FALSE(PlaceOnImage(Page({Line("a", line.quad)})).regions[0].lines[0].baseline);
}

TEST(PlacedPage, WhatIsBeyondThePageOrNoNumberIsMovedToItsEdge) {
  constexpr double kHuge = 1e300, kNone = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(FirstLineBox(Page({Line("a", Quad(-kHuge, 150, kHuge, 900))})), "0 150 100 200 ");
  EXPECT_EQ(FirstLineBox(Page({Line("a", Quad(kNone, kNone, kNone, kNone))})), "0 0 1 1 ");
  EXPECT_EQ(FirstLineBox(Page({Line("a", Quad(500, 500, 600, 600))})), "99 199 100 200 ");
  PageResult unknown = Page({Line("a", Quad(1, 2, 3, 4))});
  unknown.width = unknown.height = 0;
  unknown.rotation = 45;
  EXPECT_EQ(FirstLineBox(unknown), "0 0 0 0 ");
  EXPECT_EQ(PlaceOnImage(unknown).rotation, 0);
}

std::vector<std::string> Words(const LineResult& line) {
  std::vector<std::string> words;
  const PlacedPage page = PlaceOnImage(Page({line}));
  for (const PlacedWord& word : page.regions[0].lines[0].words) {
    words.push_back(word.text + "@" + std::to_string(word.place.box.x0));
  }
  return words;
}

TEST(PlacedPage, LinesAreWordsAndNothingOfTheirTextIsLost) {
  using List = std::vector<std::string>;
  LineResult line = Line("Dear Sir,", Quad(20, 20, 80, 30));
  EXPECT_EQ(Words(line), (List{"Dear Sir,@20"})) << "a line without words is one";
  line.words = {{0, 4, Quad(20, 20, 40, 30), 0.75}, {5, 9, Quad(50, 20, 80, 30), 0.25}};
  EXPECT_EQ(Words(line), (List{"Dear@20", "Sir,@50"}));
  line.text = "\xE2\x98\x90 Dear Sir, now";  // a check box, which stands before the line
  line.words[0].begin = 4;
  line.words[0].end = 8;
  line.words[1].begin = 9;
  line.words[1].end = 13;
  EXPECT_EQ(Words(line), (List{"\xE2\x98\x90@10", "Dear@20", "Sir,@50", "now@80"}));
  line.words[1].begin = 2;  // over the other, and backwards
  line.words[1].end = 1;
  EXPECT_EQ(Words(line), (List{"\xE2\x98\x90@10", "Dear@20", "Sir, now@80"}));
  EXPECT_EQ(Words(Line(" \n", line.quad)), List());
}

TEST(PlacedPage, ConfidencesAreProbabilities) {
  LineResult line = Line("a b", Quad(0, 0, 9, 9));
  line.words = {{0, 1, line.quad, 7}, {2, 3, line.quad, std::nan("")}};
  PageResult page = Page({line});
  EXPECT_FALSE(PlaceOnImage(page).confidence);
  page.regions[0].confidence = {4, 0.5, 0.1};
  const PlacedPage placed = PlaceOnImage(page);
  EXPECT_EQ(placed.regions[0].lines[0].words[0].confidence, 1);
  EXPECT_EQ(placed.regions[0].lines[0].words[1].confidence, 0);
  EXPECT_EQ(placed.confidence, 0.5);
}

TEST(PlacedPage, ARegionReadAsAWholeHasItsLinesInStrips) {
  PageResult page = Page({});
  page.regions[0].text = "one\n\n two \nthree";
  page.regions[0].box = {10, 20, 60, 50};
  const std::vector<PlacedLine> lines = PlaceOnImage(page).regions[0].lines;
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].text, "two");
  EXPECT_EQ(Text(lines[1].place.box), "10 30 60 40 ");
  EXPECT_EQ(lines[2].words.size(), 1U);
  page.regions[0].text = "<table><tr><td>a</td><td>b</td></tr></table>";
  page.regions[0].syntax = TextSyntax::kHtml;
  EXPECT_EQ(PlaceOnImage(page).regions[0].lines.at(0).text, "a b");
}

TEST(PlacedPage, LinesOfCellsStandInThemAndTheOthersBeside) {
  PageResult page = Page({Line("b", Quad(40, 20, 50, 30)), Line("a", Quad(10, 20, 20, 30)),
                          Line("rest", Quad(10, 50, 30, 60))});
  TableResult table{1, 2, {}};
  table.cells.push_back({0, 1, 1, 1, Quad(30, 20, 60, 40), {}, {0, 0}});
  table.cells.push_back({0, 0, 1, 1, {}, {10, 20, 30, 40}, {1}});
  page.regions[0].table = table;
  const PlacedRegion region = PlaceOnImage(page).regions[0];
  ASSERT_EQ(region.cells.size(), 2U);
  EXPECT_EQ(region.cells[0].lines.at(0).text, "a");
  EXPECT_EQ(Text(region.cells[0].place.box), "10 20 30 40 ");
  EXPECT_EQ(region.cells[1].lines.size(), 1U) << "a line stands in one cell, once";
  ASSERT_EQ(region.lines.size(), 1U);
  EXPECT_EQ(region.lines[0].text, "rest");
  EXPECT_EQ(region.AllLines().size(), 3U);
}

TEST(TextOfHtml, HasRowsAndCellsAndCharacters) {
  EXPECT_EQ(TextOfHtml("<table><tr><td>a &amp; b</td><TD>c</TD></tr>\n<tr><th>&#233;</th></tr>"),
            "a & b\tc\n\u00e9");
  EXPECT_EQ(TextOfHtml("a<br/>b"), "a\nb");
  EXPECT_EQ(TextOfHtml("1 < 2 &unknown; & &#xE9; &#0; &#xD800; &#99999999999;"),
            "1 < 2 &unknown; & \u00e9 &#0; &#xD800; &#99999999999;");
  EXPECT_EQ(TextOfHtml("x <b never closed <i"), "x <b never closed <i");
  EXPECT_EQ(TextOfHtml(""), "");
}

}  // namespace
}  // namespace platen
