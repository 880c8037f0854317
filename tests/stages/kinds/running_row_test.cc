// The head and the foot of a single page.
#include "stages/kinds/running_row.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/stages/kinds/made_page.h"

namespace platen {
namespace {

using testing::Body;
using testing::Page;
using testing::Text;
using enum RegionKind;

constexpr Print kBody = {10, 0.3};

// Kinds of the regions but for two paragraphs between them and the foot.
std::vector<RegionKind> Assigned(std::vector<RegionResult> above, std::vector<RegionResult> below) {
  std::vector<RegionResult> regions = above;
  regions.push_back(Body(150));
  regions.push_back(Body(900));
  regions.insert(regions.end(), below.begin(), below.end());
  PageResult page = Page(regions);
  AssignRunningRows(kBody, page);
  std::vector<RegionKind> kinds;
  for (size_t i = 0; i < page.regions.size(); ++i) {
    const bool body = i >= above.size() && i < above.size() + 2;
    if (!body) kinds.push_back(page.regions[i].kind);
  }
  return kinds;
}

RegionResult Line(const std::string& text, double x, double y, double width, double size = 10) {
  return Text({text}, {.x = x, .y = y, .width = width, .x_height = size});
}

RegionResult Number(double x, double y) {
  RegionResult region = Line("12", x, y, 30);
  region.kind = kPageNumber;
  return region;
}

using Kinds = std::vector<RegionKind>;

TEST(RunningRow, WhatStandsBesideAPageNumberIsAHeader) {
  EXPECT_EQ(Assigned({Line("A journey north", 300, 50, 200), Number(670, 52)}, {}),
            (Kinds{kHeader, kPageNumber}));
  EXPECT_EQ(Assigned({}, {Line("A journey north", 300, 1150, 200), Number(670, 1152)}),
            (Kinds{kFooter, kPageNumber}));
  EXPECT_EQ(Assigned({Line("A journey north", 300, 50, 200, 16), Number(670, 52)}, {}),
            (Kinds{kText, kPageNumber}))
      << "large print is no running head";
}

TEST(RunningRow, AScrapAtTheEdgeIsANumber) {
  EXPECT_EQ(Assigned({Line("A JOURNEY", 250, 50, 200), Line("ky", 670, 52, 30)}, {}),
            (Kinds{kHeader, kPageNumber}));
  EXPECT_EQ(Assigned({Line("A JOURNEY", 250, 50, 200), Line("ky", 460, 52, 30)}, {}),
            (Kinds{kText, kText}))
      << "in the middle";
  EXPECT_EQ(Assigned({Line("A JOURNEY", 460, 50, 200), Line("ky", 670, 52, 30)}, {}),
            (Kinds{kText, kText}))
      << "beside the words";
  EXPECT_EQ(Assigned({Line("ky", 670, 52, 30)}, {}), Kinds{kText}) << "alone";
}

TEST(RunningRow, SmallPrintFarFromTheTextIsNoneOfIt) {
  EXPECT_EQ(Assigned({Line("Journal of records", 100, 40, 200, 8)},
                     {Line("Tel. 12 34", 300, 1150, 200, 8)}),
            (Kinds{kHeader, kFooter}));
  EXPECT_EQ(Assigned({Line("Journal of records", 100, 40, 200)}, {}), Kinds{kText}) << "not small";
  EXPECT_EQ(Assigned({Line("Journal of records", 100, 118, 200, 8)}, {}), Kinds{kText}) << "close";
  EXPECT_EQ(Assigned({}, {Line("1 See above", 100, 1150, 200, 8)}), Kinds{kText}) << "a note";
  // Figures have no x-height of their own.
  RegionResult figures = Line("Tel. 012 345", 300, 1150, 200, 8);
  figures.lines[0].x_height = 0;
  EXPECT_EQ(Assigned({}, {figures}), Kinds{kFooter});
}

TEST(RunningRow, CapitalsOnAPageWithANumberAreAHeader) {
  EXPECT_EQ(Assigned({Line("LETTERS AND PAPERS", 300, 50, 200)}, {Number(390, 1150)}),
            (Kinds{kHeader, kPageNumber}));
  EXPECT_EQ(Assigned({Line("LETTERS AND PAPERS", 300, 50, 200)}, {}), Kinds{kText});
  EXPECT_EQ(Assigned({Line("LETTERS AND PAPERS", 300, 115, 200)}, {Number(390, 1150)}),
            (Kinds{kText, kPageNumber}))
      << "close to the text it is a heading";
}

}  // namespace
}  // namespace platen
