// Kinds of regions from text and place, on hand-made pages.
#include "stages/kinds/page_kinds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/stages/kinds/made_page.h"

namespace platen {
namespace {

using testing::Body;
using testing::Page;
using testing::Text;

std::vector<RegionKind> KindsOf(PageResult page) {
  AssignKinds(page);
  std::vector<RegionKind> kinds;
  for (const RegionResult& region : page.regions) kinds.push_back(region.kind);
  return kinds;
}

using enum RegionKind;
using Kinds = std::vector<RegionKind>;

TEST(Kinds, LargePrintIsAHeadingAndTheLargestAtTheTopTheTitle) {
  EXPECT_EQ(KindsOf(Page({Text({"On Delivery"}, {.y = 50, .x_height = 16}), Body(150),
                          Text({"Scope"}, {.y = 250, .x_height = 12}), Body(300)})),
            (Kinds{kTitle, kText, kHeading, kText}));
}

TEST(Kinds, BoldPrintIsAHeadingUnlessItIsASentence) {
  EXPECT_EQ(KindsOf(Page({Body(50), Text({"Scope"}, {.y = 150, .weight = 0.45}), Body(250),
                          Text({"This matters."}, {.y = 350, .weight = 0.45}), Body(400)})),
            (Kinds{kText, kHeading, kText, kText, kText}));
}

TEST(Kinds, AHeadingCloseToItsTextIsPartedFromIt) {
  RegionResult region =
      Text({"Scope", "The committee expects the terms", "of delivery by post."}, {.y = 150});
  region.lines[0].x_height = 13;
  EXPECT_EQ(KindsOf(Page({Body(50), region, Body(300)})), (Kinds{kText, kHeading, kText, kText}));
}

TEST(Kinds, ItemsOfAListArePartedAndMarked) {
  PageResult page =
      Page({Body(50), Text({"1. one thing", "that goes on", "2. another"}, {.y = 150})});
  AssignKinds(page);
  ASSERT_EQ(page.regions.size(), 3u);
  EXPECT_EQ(page.regions[1].kind, kListItem);
  EXPECT_EQ(page.regions[1].text, "1. one thing\nthat goes on");
  EXPECT_EQ(page.regions[1].confidence.tokens, 4);
  EXPECT_EQ(page.regions[2].text, "2. another");
  EXPECT_GT(page.regions[2].box.y0, page.regions[1].box.y1);
}

// The layout parts the lines of an item where they are set in.
TEST(Kinds, LinesSetInUnderAnItemBelongToIt) {
  PageResult page =
      Page({Body(20), Text({"- one thing", "- another"}, {.y = 150}),
            Text({"that goes on"}, {.x = 125, .y = 210}), Text({"and on"}, {.x = 125, .y = 240}),
            Text({"The end"}, {.y = 270}), Body(400)});
  AssignKinds(page);
  ASSERT_EQ(page.regions.size(), 5u);
  EXPECT_EQ(page.regions[2].kind, kListItem);
  EXPECT_EQ(page.regions[2].text, "- another\nthat goes on\nand on");
  EXPECT_EQ(page.regions[3].kind, kText) << "not set in";
}

TEST(Kinds, TextUnderANumberedHeadingIsNoPartOfIt) {
  RegionResult section =
      Text({"2. Method", "It was the best of times, it was", "the worst."}, {.y = 150});
  section.lines[0].x_height = 11;
  section.lines[0].weight = 0.35;
  section.lines[0].box.x1 = 200;
  section.lines[1].box.x0 += 25;
  EXPECT_EQ(KindsOf(Page({Body(20), section, Body(400)})), (Kinds{kText, kHeading, kText, kText}))
      << "a little larger and a little bolder is enough together";
}

TEST(Kinds, ALongSentenceInLargePrintIsNoHeading) {
  const std::string sentence =
      "Each of the hundred sequences holds thirty-two tracks, all at once!";
  EXPECT_EQ(KindsOf(Page({Body(20), Text({sentence}, {.y = 150, .x_height = 12}), Body(250)})),
            (Kinds{kText, kText, kText}));
}

TEST(Kinds, CapitalsInTheMiddleAreAHeadingAndAloneTheTitle) {
  const auto head = [](const char* text, double y, double x = 300) {
    return Text({text}, {.x = x, .y = y, .width = 200});
  };
  EXPECT_EQ(KindsOf(Page({head("METRICAL NOTE", 50), Body(150)})), (Kinds{kTitle, kText}));
  EXPECT_EQ(KindsOf(Page({head("METRICAL NOTE", 50), Body(150), head("ANOTHER", 250), Body(300)})),
            (Kinds{kHeading, kText, kHeading, kText}));
  EXPECT_EQ(KindsOf(Page({head("Metrical note", 50), Body(150)})), (Kinds{kText, kText}));
  EXPECT_EQ(KindsOf(Page({head("IBAN DE49 2885 3512", 50), Body(150)})), (Kinds{kText, kText}));
  EXPECT_EQ(KindsOf(Page({head("METRICAL NOTE", 50, 100), Body(150)})), (Kinds{kText, kText}));
  EXPECT_EQ(KindsOf(Page({head("CHAPTER IV", 50), Body(150)})), (Kinds{kHeading, kText}));
}

TEST(Kinds, AParagraphThatBeginsWithANumberIsNoList) {
  EXPECT_EQ(KindsOf(Page({Text({"12. May 1921 was a day on which", "nothing happened."}, {.y = 50}),
                          Body(150)})),
            (Kinds{kText, kText}));
}

TEST(Kinds, CaptionsStandAtPictures) {
  RegionResult figure;
  figure.kind = kFigure;
  figure.box = {100, 200, 700, 500};
  EXPECT_EQ(KindsOf(Page({Body(50), figure, Text({"Fig. 3. The house"}, {.y = 510}), Body(600)})),
            (Kinds{kText, kFigure, kCaption, kText}));
  EXPECT_EQ(KindsOf(Page({Body(50), Text({"Fig. 3. The house"}, {.y = 510}), Body(600)})),
            (Kinds{kText, kText, kText}));
}

TEST(Kinds, SmallPrintAtTheFootIsANote) {
  EXPECT_EQ(KindsOf(Page({Body(50), Body(950), Text({"1 See above."}, {.y = 1080, .x_height = 8}),
                          Text({"- 7 -"}, {.x = 380, .y = 1150, .width = 40})})),
            (Kinds{kText, kText, kFootnote, kPageNumber}));
}

TEST(Kinds, NumbersInTheMiddleAreNoPageNumbers) {
  EXPECT_EQ(KindsOf(Page({Body(50), Text({"1921"}, {.y = 150, .width = 50}), Body(250)})),
            (Kinds{kText, kText, kText}));
}

TEST(Kinds, TheKindsOfALayoutModelStay) {
  PageResult page = Page({Text({"12"}, {.y = 1150, .width = 30})});
  page.regions[0].kind = kFooter;
  EXPECT_EQ(KindsOf(page), Kinds{kFooter});
}

TEST(Kinds, UnsureScrapsAtPicturesAreLeftOut) {
  RegionResult figure;
  figure.kind = kFigure;
  figure.box = {100, 200, 700, 500};
  const auto unsure = [](RegionResult region) {
    region.confidence.mean = 0.4;
    return region;
  };
  EXPECT_EQ(
      KindsOf(Page({Body(50), figure, unsure(Text({"Il a de"}, {.x = 300, .y = 480, .width = 60})),
                    unsure(Text({"Il a de"}, {.y = 700})), unsure(Text({"|"}, {.y = 800})),
                    Text({"ab"}, {.y = 900})})),
      (Kinds{kText, kFigure, kText, kText}))
      << "of those away from pictures only dirt goes, and what is read with confidence stays";
}

}  // namespace
}  // namespace platen
