// Program code, from the places of its lines.
#include "stages/kinds/code.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/support/utf8.h"
#include "stages/kinds/page_kinds.h"
#include "tests/stages/kinds/made_page.h"

namespace platen {
namespace {

using testing::Body;
using testing::Page;

constexpr double kAdvance = 12;

// Lines as a fixed-pitch face sets them: `indent` columns in, `rows` below the top. Scans and
// detectors are off by up to two pixels.
RegionResult Monospaced(const std::vector<std::string>& code, double top, double left = 100) {
  RegionResult region;
  double y = top;
  int wobble = 0;
  for (const std::string& row : code) {
    const size_t indent = row.find_first_not_of(' ');
    if (indent == std::string::npos) {
      y += 30;
      continue;
    }
    LineResult line;
    line.text = row.substr(indent);
    line.x_height = 10;
    line.weight = 0.3;
    const double x = left + kAdvance * static_cast<double>(indent) + wobble % 3 - 1;
    const double width =
        kAdvance * static_cast<double>(CodePoints(line.text).size()) + 5 + wobble % 2;
    ++wobble;
    line.box = {x, y, x + width, y + 20};
    line.quad = {{{x, y}, {x + width, y}, {x + width, y + 20}, {x, y + 20}}};
    line.confidence = {2, 0.9, 0.8};
    y += 30;
    region.lines.push_back(line);
    region.text += (region.text.empty() ? "" : "\n") + line.text;
  }
  const ResultBox& first = region.lines.front().box;
  region.box = {left, first.y0, 700, region.lines.back().box.y1};
  region.confidence = {2, 0.9, 0.8};
  return region;
}

const std::vector<std::string>& Program() {
  static const std::vector<std::string> lines = {
      "def read(folder, first=0):", "    for name in sorted(folder):", "        if name.size == 0:",
      "            continue", "        yield name, first"};
  return lines;
}

std::string Joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + line;
  return text;
}

TEST(Pitch, IsMeasuredOnLinesOfDifferentLengths) {
  const std::optional<Pitch> pitch = PitchOf(Monospaced(Program(), 100).lines);
  ASSERT_TRUE(pitch);
  EXPECT_NEAR(pitch->advance, kAdvance, 0.3);
  EXPECT_NEAR(pitch->margin, 5, 3);
}

TEST(Pitch, ProportionalPrintHasNone) {
  RegionResult region = Monospaced(Program(), 100);
  const std::vector<double> widths = {260, 262, 190, 70, 150};
  for (size_t i = 0; i < widths.size(); ++i) {
    LineResult& line = region.lines[i];
    line.quad[1].x = line.quad[0].x + widths[i];
  }
  EXPECT_FALSE(PitchOf(region.lines));
  region.lines.resize(2);
  EXPECT_FALSE(PitchOf(region.lines));
}

TEST(Code, KeepsItsIndentation) {
  PageResult page = Page({Body(20), Monospaced(Program(), 150), Body(400)});
  AssignKinds(page);
  ASSERT_EQ(page.regions.size(), 3U);
  EXPECT_EQ(page.regions[1].kind, RegionKind::kCode);
  EXPECT_EQ(page.regions[1].text, Joined(Program()));
  EXPECT_EQ(page.regions[0].kind, RegionKind::kText);
  EXPECT_EQ(page.regions[2].kind, RegionKind::kText);
}

// A page that is turned by eleven degrees.
TEST(Code, SkewDoesNotCount) {
  RegionResult region = Monospaced(Program(), 150);
  for (LineResult& line : region.lines) {
    for (ResultPoint& p : line.quad) p = {p.x - 0.2 * p.y, p.y + 0.2 * p.x};
    line.box.x0 = line.quad[3].x;
  }
  PageResult page = Page({region});
  AssignKinds(page);
  EXPECT_EQ(page.regions[0].text, Joined(Program()));
}

// The layout parts code at empty lines; a part may be too short to be told alone.
TEST(Code, PartsOnOneGridAreOneRegion) {
  std::vector<std::string> all = {"class Ledger:", "    pass", ""};
  const RegionResult head = Monospaced({all[0], all[1]}, 100);
  all.insert(all.end(), Program().begin(), Program().end());
  const RegionResult middle = Monospaced(Program(), 190);
  const RegionResult end = Monospaced({"        first += 1"}, 370);
  all.insert(all.end(), {"", "        first += 1"});
  PageResult page = Page({Body(20), head, middle, end, Body(500)});
  AssignKinds(page);
  ASSERT_EQ(page.regions.size(), 3U);
  EXPECT_EQ(page.regions[1].kind, RegionKind::kCode);
  EXPECT_EQ(page.regions[1].text, Joined(all));
  EXPECT_EQ(page.regions[1].lines.size(), 8U);
  EXPECT_EQ(page.regions[1].box.y0, 100);
}

// Indentation tells code whose characters were miscounted.
TEST(Code, AMisreadPartBelongsToItByItsIndentation) {
  RegionResult below =
      Monospaced({"def add(self):", "    self.path = path", "    return self"}, 310);
  below.lines[0].text = "defadd(self";
  below.lines[1].text = "self. path= path-";
  PageResult page = Page({Monospaced(Program(), 150), below});
  AssignKinds(page);
  ASSERT_EQ(page.regions.size(), 1U);
  EXPECT_EQ(page.regions[0].lines.size(), 8U);
  for (LineResult& line : below.lines) line.quad[0].x += 5;  // off the grid
  page = Page({Monospaced(Program(), 150), below});
  AssignKinds(page);
  EXPECT_EQ(page.regions.size(), 2U);
}

TEST(Code, ACommentFarToTheRightStaysOnItsRow) {
  RegionResult region = Monospaced(Program(), 150);
  LineResult comment = region.lines[0];
  const double x = 100 + 40 * kAdvance;
  comment.text = "# a note";
  comment.box = {x, 150, x + 8 * kAdvance, 170};
  comment.quad = {{{x, 150}, {comment.box.x1, 150}, {comment.box.x1, 170}, {x, 170}}};
  region.lines.insert(region.lines.begin() + 1, comment);
  PageResult page = Page({region});
  AssignKinds(page);
  EXPECT_EQ(page.regions[0].text.substr(0, 49), Program()[0] + std::string(14, ' ') + "# a note\n");
}

TEST(Code, ATypewrittenLetterIsNone) {
  PageResult page = Page({Monospaced(
      {"Dear Sir,", "    thank you for your letter of last week.",
       "We have sent you (by post) what you asked for,", "and hope that it arrives soon."},
      100)});
  AssignKinds(page);
  EXPECT_EQ(page.regions[0].kind, RegionKind::kText);
}

TEST(Code, OfALayoutModelIsIndentedToo) {
  RegionResult region = Monospaced({"a:", "  b"}, 100);
  region.kind = RegionKind::kCode;
  PageResult page = Page({region});
  AssignKinds(page);
  EXPECT_EQ(page.regions[0].text, "a:\n  b");
}

}  // namespace
}  // namespace platen
