// Headers and footers over the pages of a document.
#include "stages/kinds/running_heads.h"

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

TEST(RunningHeads, AreLinesThatComeBack) {
  std::vector<PageResult> pages;
  for (int i = 0; i < 4; ++i) {
    const std::string head = i == 2 ? "Contents" : "A journey north " + std::to_string(10 + i);
    pages.push_back(Page({Text({head}, {.y = 20}), Body(80), Body(200)}));
  }
  RunningHeads heads;
  for (const PageResult& page : pages) heads.Look(page);
  for (int i = 0; i < 4; ++i) {
    heads.Mark(i, pages[static_cast<size_t>(i)]);
    EXPECT_EQ(pages[static_cast<size_t>(i)].regions[0].kind, i == 2 ? kText : kHeader) << i;
    EXPECT_EQ(pages[static_cast<size_t>(i)].regions[1].kind, kText);
  }
}

TEST(RunningHeads, OneSheetHasNone) {
  PageResult page = Page({Text({"A journey north"}, {.y = 20}), Body(80)});
  RunningHeads heads;
  heads.Look(page);
  heads.Mark(0, page);
  EXPECT_EQ(page.regions[0].kind, kText);
}

}  // namespace
}  // namespace platen
