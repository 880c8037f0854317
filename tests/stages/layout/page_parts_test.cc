// What stands beside and over the text of drawn pages: photographs, charts, stamps, tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "stages/layout/layout.h"
#include "tests/stages/layout/drawn_page.h"

namespace platen {
namespace {

using testing::DrawnPage;

std::vector<LayoutLine> LinesOf(const PageLayout& layout) {
  std::vector<LayoutLine> lines;
  for (const LayoutRegion& region : layout.regions) {
    lines.insert(lines.end(), region.lines.begin(), region.lines.end());
  }
  return lines;
}

std::vector<BoxF> FiguresOf(const PageLayout& layout) {
  std::vector<BoxF> figures;
  for (const LayoutRegion& region : layout.regions) {
    if (region.kind == RegionKind::kFigure) figures.push_back(region.box);
  }
  return figures;
}

PageLayout Detect(const DrawnPage& page) { return MakeClassicalDetector()->Detect(page.image()); }

const std::string kWords = "xbpxix Cxb xxixpxixpb bxxx xix xxpxibx xbbxx xpx ";

// Lines as wide as the words that fit, 36 apart.
void AddText(DrawnPage& page, double x, int baseline, double width, int count) {
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<size_t>(7 * i) % kWords.size();
    const std::string text = kWords.substr(from) + kWords.substr(0, from) + kWords;
    std::string line;
    double end = x;
    for (const char c : text) {
      end += c == ' ' ? 8.4 : (c == 'i' ? 4.2 : 11.2) + 3.5;
      if (end > x + width) break;
      line += c;
    }
    page.Text(x, baseline + 36 * i, 14, line);
  }
}

// A photograph with light fog, dark buildings and lit windows.
void AddPhotograph(DrawnPage& page, int x0, int y0, int x1, int y1) {
  for (int y = y0; y < y1; y += 4) {
    for (int x = x0; x < x1; x += 4) {
      const double fog = 170 + 35 * std::sin(x / 41.0) * std::cos(y / 57.0);
      page.Fill(x, y, std::min(x + 4, x1), std::min(y + 4, y1), static_cast<uint8_t>(fog));
    }
  }
  page.Fill(x0 + 60, y0 + 80, x0 + 160, y1 - 20, 30);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      const int x = x0 + 70 + 22 * column, y = y0 + 95 + 26 * row;
      page.Fill(x, y, x + 12, y + 14, 235);
    }
  }
}

TEST(Photographs, AreFoundWhereTheyEndAndTakeNoTextWithThem) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  AddPhotograph(page, 100, 340, 480, 700);
  AddText(page, 520, 360, 380, 10);  // beside it
  AddText(page, 100, 742, 800, 8);   // below it
  const PageLayout layout = Detect(page);
  const std::vector<BoxF> figures = FiguresOf(layout);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_NEAR(figures[0].x0, 100, 8);
  EXPECT_NEAR(figures[0].y0, 340, 8);
  EXPECT_NEAR(figures[0].x1, 480, 8);
  EXPECT_NEAR(figures[0].y1, 700, 8);
  const std::vector<LayoutLine> lines = LinesOf(layout);
  EXPECT_EQ(lines.size(), 24u);
  for (const LayoutLine& line : lines) {
    const bool beside = line.box.y0 > 330 && line.box.y1 < 710;
    EXPECT_EQ(line.box.x0 > 490, beside) << line.box.y0;
  }
}

TEST(Photographs, TheWhiteBesideOneEndsWithIt) {
  DrawnPage page(1000, 1400);
  AddPhotograph(page, 100, 100, 480, 760);
  AddText(page, 520, 120, 380, 18);
  page.Text(100, 806, 14, "xbpxix Cxb xxixpxixpb bxxx xix");  // a line below both
  page.Text(500, 806, 14, "xxpxibx xbbxx xpx xbxx xpx");
  const std::vector<LayoutLine> lines = LinesOf(Detect(page));
  ASSERT_EQ(lines.size(), 19u);
  EXPECT_LT(lines.back().box.x0, 110);
  EXPECT_GT(lines.back().box.x1, 850);
}

TEST(Photographs, AnEvenTintIsReadAndIsNone) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  page.Fill(90, 400, 910, 700, 215);
  AddText(page, 110, 440, 760, 7);
  const PageLayout layout = Detect(page);
  EXPECT_TRUE(FiguresOf(layout).empty());
  EXPECT_EQ(LinesOf(layout).size(), 13u);
}

TEST(Photographs, AShadowOverAQuarterOfThePageIsNone) {
  DrawnPage page(1000, 1400);
  for (int row = 0; row < 30; ++row) {
    const int baseline = 120 + 40 * row;
    page.Text(100, baseline, 14, "xbpxix Cxb xxixp");
    page.Text(860, baseline, 14, "CCC");
  }
  Image shaded = page.image();
  for (int y = 0; y < shaded.height; ++y) {
    for (int x = 0; x < shaded.width; ++x) {
      const double away = (static_cast<double>(x) / 1000 + 1 - static_cast<double>(y) / 1400) / 2;
      for (int c = 0; c < 3; ++c) {
        uint8_t& value = shaded.Row(y)[3 * x + c];
        value = static_cast<uint8_t>(value * (1 - 0.55 * away * away));
      }
    }
  }
  const PageLayout layout = MakeClassicalDetector()->Detect(shaded);
  EXPECT_TRUE(FiguresOf(layout).empty());
  const std::vector<LayoutLine> lines = LinesOf(layout);
  const auto short_words = std::count_if(lines.begin(), lines.end(),
                                         [](const LayoutLine& line) { return line.box.x0 > 800; });
  EXPECT_EQ(short_words, 30);
}

TEST(Charts, AreOneFigureWithoutTheirLabels) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  page.Fill(200, 380, 203, 703);  // axes
  page.Fill(200, 700, 803, 703);
  for (int bar = 0; bar < 5; ++bar) {
    const int x = 230 + 115 * bar;
    page.Fill(x, 450 + 40 * (bar % 3), x + 60, 700, 120);
    page.Text(x + 8, 728, 11, "CCCC");
  }
  AddText(page, 100, 800, 800, 8);
  const PageLayout layout = Detect(page);
  const std::vector<BoxF> figures = FiguresOf(layout);
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_LT(figures[0].x0, 215);
  EXPECT_GT(figures[0].x1, 700);
  EXPECT_EQ(LinesOf(layout).size(), 14u);
}

TEST(Charts, LabelsStayWhereNothingStandsOnAxes) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  for (int i = 0; i < 5; ++i) page.Text(238 + 115 * i, 728, 14, "CCCC");
  EXPECT_EQ(LinesOf(Detect(page)).size(), 11u);
}

constexpr double kLean = 0.02;

// The frame of a stamp that leans by a degree.
void AddStamp(DrawnPage& page, int x0, int y0, int width, int height, uint8_t tone) {
  for (int x = 0; x < width; ++x) {
    const double lean = kLean * x;
    page.Fill(x0 + x, y0 + lean, x0 + x + 1, y0 + lean + 6, tone);
    page.Fill(x0 + x, y0 + height + lean, x0 + x + 1, y0 + height + lean + 6, tone);
  }
  for (int y = 0; y < height; ++y) {
    page.Fill(x0 - kLean * y, y0 + y, x0 - kLean * y + 6, y0 + y + 1, tone);
    page.Fill(x0 + width - kLean * y, y0 + y + kLean * width, x0 + width - kLean * y + 6,
              y0 + y + kLean * width + 1, tone);
  }
}

TEST(Stamps, LinesGoOnUnderALighterOne) {
  DrawnPage page(1000, 1400);
  AddStamp(page, 400, 250, 260, 120, 150);
  AddText(page, 100, 200, 800, 12);
  const std::vector<LayoutLine> lines = LinesOf(Detect(page));
  ASSERT_EQ(lines.size(), 12u);
  for (const LayoutLine& line : lines) EXPECT_GT(line.box.x1 - line.box.x0, 700);
}

TEST(Columns, ALooseLineKeepsItsLastWord) {
  DrawnPage page(1000, 1400);
  for (int column = 0; column < 2; ++column) {
    AddText(page, 100 + 420 * column, 120, 380, 20);
  }
  page.Fill(100, 310, 482, 346, 255);  // the seventh line of the first column: set wide
  page.Text(100, 336, 14, "xbp");
  page.Text(200, 336, 14, "xix");
  page.Text(290, 336, 14, "xpbxx");
  page.Text(463, 336, 14, "x");
  const PageLayout layout = Detect(page);
  const std::vector<LayoutLine> lines = LinesOf(layout);
  EXPECT_EQ(lines.size(), 40u);
  for (size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].box.x0 > 500, i >= 20) << i;
}

TEST(Columns, TheDotOfAnIBelongsToItsOwnColumn) {
  DrawnPage page(1000, 1400);
  for (int line = 0; line < 24; ++line) {
    AddText(page, 100, 115 + 36 * line, 380, 1);
    page.Text(497, 120 + 36 * line, 14, "ixbpxix Cxb xxixpxixpb bxxx xi");
  }
  for (const LayoutLine& line : LinesOf(Detect(page))) {
    EXPECT_TRUE(line.box.x1 < 497 || line.box.x0 > 480) << line.box.x0 << " " << line.box.x1;
  }
}

// A square whose lower left corner is (x, baseline).
void AddCheckBox(DrawnPage& page, int x, int baseline, bool ticked, int side = 20) {
  page.Fill(x, baseline - side, x + side, baseline);
  page.Fill(x + 2, baseline - side + 2, x + side - 2, baseline - 2, 255);
  for (int k = 3; ticked && k < side - 3; ++k) {
    page.Fill(x + k, baseline - side + k, x + k + 2, baseline - side + 2 + k);
    page.Fill(x + k, baseline - k, x + k + 2, baseline + 2 - k);
  }
}

TEST(CheckBoxes, AreNotedAtTheirLinesAndNotRead) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  AddCheckBox(page, 100, 420, false);
  AddCheckBox(page, 100, 470, true);
  AddText(page, 140, 420, 500, 1);
  AddText(page, 140, 470, 500, 1);
  page.Fill(100, 500, 120, 520);  // a solid square is no box
  AddText(page, 140, 520, 500, 1);
  const std::vector<LayoutLine> lines = LinesOf(Detect(page));
  ASSERT_EQ(lines.size(), 9u);
  const CheckBox expected[] = {CheckBox::kEmpty, CheckBox::kTicked, CheckBox::kNone};
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].check_box, i < 6 ? CheckBox::kNone : expected[i - 6]) << i;
  }
  EXPECT_GT(lines[6].box.x0, 122);
  EXPECT_GT(lines[7].box.x0, 122);
}

TEST(CheckBoxes, MayBeThreeTimesAsHighAsSmallLetters) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  AddCheckBox(page, 100, 430, true, 40);
  AddText(page, 170, 420, 500, 1);
  const std::vector<LayoutLine> lines = LinesOf(Detect(page));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[6].check_box, CheckBox::kTicked);
  EXPECT_GT(lines[6].box.x0, 142);
}

TEST(CheckBoxes, WithinALineStayThere) {
  DrawnPage page(1000, 1400);
  for (int i = 0; i < 10; ++i) {
    AddText(page, 100, 120 + 36 * i, 800, 1);
    page.Fill(412, 95 + 36 * i, 450, 128 + 36 * i, 255);
    AddCheckBox(page, 420, 120 + 36 * i, false);  // within a line
  }
  for (const LayoutLine& line : LinesOf(Detect(page))) {
    EXPECT_EQ(line.check_box, CheckBox::kNone);
  }
}

// Characters of one width, as a typewriter sets them, upwards of `x`.
void Typed(DrawnPage& page, double x, int baseline, int x_height, const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const double width = text[i] == '.' ? 0.25 : 0.8;
    const double left = x + (1.35 * static_cast<double>(i) + (1.35 - width) / 2) * x_height;
    page.Text(left, baseline, x_height, text.substr(i, 1));
  }
}

TEST(Tables, ThePointsOfTypedFiguresEndNoColumn) {
  DrawnPage page(1000, 1200);
  const std::string words[] = {"CCC CCCC", "CCCCCCC CCCC", "CCCC CC", "CCCCC"};
  for (int row = 0; row < 24; ++row) {
    const int baseline = 120 + 34 * row;
    Typed(page, 80, baseline, 12, words[row % 4]);
    const std::string figure = row % 3 == 0 ? "C.CC" : "CC.CC";
    Typed(page, 900 - 1.35 * 12 * static_cast<double>(figure.size()), baseline, 12, figure);
  }
  int figures = 0;
  for (const LayoutLine& line : LinesOf(Detect(page))) {
    if (line.box.x0 < 700) continue;
    ++figures;
    EXPECT_NEAR(line.box.x1, 900, 10);  // whole, not up to its point
  }
  EXPECT_EQ(figures, 24);
}

TEST(Tables, HeadsLeftOfTheirFiguresAreInTheTable) {
  DrawnPage page(1000, 1400);
  AddText(page, 100, 120, 800, 6);
  const int ends[] = {0, 560, 740, 900};
  for (int row = 0; row < 6; ++row) {
    const int y = 420 + 40 * row;
    page.Text(100, y, 14, row == 0 ? "Cxbx" : "xbpxix xxixpx");
    for (int column = 1; column < 4; ++column) {
      if (row == 0) {
        page.Text(ends[column] - 130, y, 14, "Cxxb");
      } else {
        page.Text(ends[column] - 43, y, 14, "CCC");
      }
    }
  }
  AddText(page, 100, 760, 800, 6);
  const PageLayout layout = Detect(page);
  const auto table =
      std::find_if(layout.regions.begin(), layout.regions.end(),
                   [](const LayoutRegion& region) { return region.kind == RegionKind::kTable; });
  ASSERT_NE(table, layout.regions.end());
  EXPECT_EQ(table->table->rows, 6);
  EXPECT_EQ(table->table->columns, 4);
  EXPECT_EQ(table->lines.size(), 24u);
}

TEST(Tables, TakeNoLineOfTheTextBelow) {
  DrawnPage page(1000, 1400);
  for (int row = 0; row < 16; ++row) {
    const int y = 120 + 36 * row;
    page.Text(100, y, 14, "xbpxix xxix");
    page.Text(420, y, 14, "CCC");
    page.Text(640, y, 14, "xpx");
    page.Text(860, y, 14, "CC");
  }
  // Its words end where the columns do.
  const int below = 120 + 36 * 16 + 14;
  for (int line = 0; line < 4; ++line) AddText(page, 100, below + 36 * line, 790, 1);
  page.Fill(402, below - 24, 413, below + 8, 255);
  page.Fill(622, below - 24, 632, below + 8, 255);
  const PageLayout layout = Detect(page);
  ASSERT_GE(layout.regions.size(), 2u);
  EXPECT_EQ(layout.regions[0].kind, RegionKind::kTable);
  EXPECT_EQ(layout.regions[0].lines.size(), 64u);
}

}  // namespace
}  // namespace platen
