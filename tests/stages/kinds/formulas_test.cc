// Formulas that stand alone, on hand-made pages.
#include "stages/kinds/formulas.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/stages/kinds/made_page.h"

namespace platen {
namespace {

using testing::Body;
using testing::Page;
using testing::Place;
using testing::Text;
using enum RegionKind;

std::vector<RegionKind> KindsWith(std::vector<RegionResult> between) {
  std::vector<RegionResult> regions = {Body(100)};
  for (RegionResult& region : between) regions.push_back(std::move(region));
  regions.push_back(Body(240));
  PageResult page = Page(std::move(regions));
  AssignFormulas(page);
  std::vector<RegionKind> kinds;
  for (size_t i = 1; i + 1 < page.regions.size(); ++i) kinds.push_back(page.regions[i].kind);
  return kinds;
}

RegionResult Centred(const std::string& text, double x = 320, double width = 160) {
  return Text({text}, {.x = x, .y = 190, .width = width});
}

using Kinds = std::vector<RegionKind>;

TEST(Formulas, StandInTheMiddleAndHaveHardlyAWord) {
  EXPECT_EQ(KindsWith({Centred("E = mc2 + 1/2 (a - b)")}), Kinds{kFormula});
  EXPECT_EQ(KindsWith({Centred("sin x < max (a, b)")}), Kinds{kFormula});
  EXPECT_EQ(KindsWith({Centred("E = mc2", 100)}), Kinds{kText}) << "at the left edge";
  EXPECT_EQ(KindsWith({Centred("E = mc2", 150, 160)}), Kinds{kText}) << "nowhere";
  EXPECT_EQ(KindsWith({Centred("* * *")}), Kinds{kText});
  EXPECT_EQ(KindsWith({Centred("1990 = 100")}), Kinds{kText}) << "no letter";
  EXPECT_EQ(KindsWith({Centred("Price = 30")}), Kinds{kText}) << "a word";
  EXPECT_EQ(KindsWith({Centred("Part I")}), Kinds{kText});
}

TEST(Formulas, HaveTheirNumberAtTheRight) {
  const RegionResult number = Text({"(2.1)"}, {.x = 650, .y = 192, .width = 50});
  EXPECT_EQ(KindsWith({Centred("E = mc2"), number}), (Kinds{kFormula, kFormulaNumber}));
  EXPECT_EQ(KindsWith({Centred("The end"), number}), (Kinds{kText, kText}));
  EXPECT_EQ(KindsWith({Centred("E = mc2"), Text({"(see)"}, {.x = 650, .y = 192, .width = 50})}),
            (Kinds{kFormula, kText}));
  EXPECT_EQ(KindsWith({Centred("E = mc2"), Text({"(3)"}, {.x = 650, .y = 215, .width = 50})}),
            (Kinds{kFormula, kText}))
      << "below it";
}

TEST(Formulas, TheirNumberFollowsThem) {
  const RegionResult number = Text({"(2.1)"}, {.x = 650, .y = 188, .width = 50});
  EXPECT_EQ(KindsWith({number, Centred("E = mc2")}), (Kinds{kFormula, kFormulaNumber}));
  EXPECT_EQ(KindsWith({Centred("E = mc2"), Text({"so"}, {.y = 220, .width = 20}), number}),
            (Kinds{kFormula, kFormulaNumber, kText}));
}

TEST(Formulas, AreAGuess) {
  PageResult page = Page({Body(100), Centred("E = mc2"), Body(240)});
  AssignFormulas(page);
  EXPECT_EQ(page.regions[1].score, 0.5);
  EXPECT_EQ(page.regions[0].score, 1);
}

TEST(Formulas, ThatTheLayoutLeftInAParagraphArePartedFromIt) {
  RegionResult region =
      Text({"The committee expects the terms", "E = mc2", "of delivery by post."}, {.y = 100});
  region.lines[1].box.x0 = 330;
  region.lines[1].box.x1 = 470;
  PageResult page = Page({region});
  AssignFormulas(page);
  ASSERT_EQ(page.regions.size(), 3U);
  EXPECT_EQ(page.regions[0].text, "The committee expects the terms");
  EXPECT_EQ(page.regions[1].text, "E = mc2");
  EXPECT_EQ(page.regions[2].kind, kText);
  page = Page({Text({"The committee expects the terms", "E = mc2"}, {.y = 100})});
  AssignFormulas(page);
  EXPECT_EQ(page.regions.size(), 1U) << "not set in";
}

TEST(Formulas, NeedTextThatShowsTheColumn) {
  PageResult page = Page({Centred("E = mc2")});
  AssignFormulas(page);
  EXPECT_EQ(page.regions[0].kind, kText);
}

}  // namespace
}  // namespace platen
