// Lines joined into paragraphs: hyphens, lines that were ended on purpose.
#include "stages/formats/reflow.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace platen {
namespace {

LineResult Line(const std::string& text, double x1) {
  LineResult line;
  line.text = text;
  line.box = {0, 0, x1, 20};
  return line;
}

PageResult PageOf(const std::vector<LineResult>& lines) {
  PageResult page;
  page.regions.emplace_back();
  page.regions[0].lines = lines;
  return page;
}

std::string Joined(const std::string& above, const std::string& below,
                   const std::string& rest = "") {
  return JoinLines(above, below, PageWords(PageOf({Line(rest, 100)})));
}

TEST(Reflow, HyphensAtLineEndsGo) {
  EXPECT_EQ(Joined("a docu-", "ment of"), "a document of");
  EXPECT_EQ(Joined("a docu\xC2\xAD", "ment"), "a document") << "soft hyphen";
  EXPECT_EQ(Joined("a docu\xE2\x80\x90", "ment"), "a document") << "U+2010";
  EXPECT_EQ(Joined("Gr\xC3\xB6-",
                   "\xC3\x9F"
                   "e"),
            "Gr\xC3\xB6\xC3\x9F"
            "e");
}

TEST(Reflow, HyphensThatBelongToTheWordStay) {
  EXPECT_EQ(Joined("it is self-", "evident"), "it is self-evident");
  EXPECT_EQ(Joined("Twenty-", "one pages"), "Twenty-one pages");
  EXPECT_EQ(Joined("a post-", "war house"), "a post-war house");
  EXPECT_EQ(Joined("a court-", "yard", "the Court-yard of"), "a court-yard") << "seen on the page";
}

TEST(Reflow, WhatIsNoHyphenStays) {
  EXPECT_EQ(Joined("Jean-", "Paul"), "Jean- Paul") << "a capital follows";
  EXPECT_EQ(Joined("he came -", "and went"), "he came - and went") << "a dash";
  EXPECT_EQ(Joined("1914-", "18"), "1914- 18");
  EXPECT_EQ(Joined("plain", "words"), "plain words");
  EXPECT_EQ(Joined("", "words"), "words");
}

TEST(Reflow, ALineThatHadRoomForTheNextWordWasEndedOnPurpose) {
  RegionResult region;
  region.lines = {Line("Mr A. Smith", 110), Line("12 High Street", 140), Line("Bristol", 70),
                  Line("Great Britain and Northern Ireland", 340)};
  EXPECT_EQ(Reflow(region, 350, PageWords({})),
            (std::vector<std::string>{"Mr A. Smith", "12 High Street", "Bristol",
                                      "Great Britain and Northern Ireland"}));
  region.lines = {Line("The committee expects the terms of", 340),
                  Line("delivery by registered post, and no", 350), Line("later.", 60)};
  EXPECT_EQ(Reflow(region, 350, PageWords({})),
            std::vector<std::string>{
                "The committee expects the terms of delivery by registered post, and no later."});
}

TEST(Reflow, LinesMayEndWhereOthersOfTheirMarginDo) {
  PageResult page = PageOf({Line("Oscar Moreau", 120), Line("113 Rue du Port", 150)});
  page.regions.emplace_back();
  page.regions[1].lines = {Line("The committee expects the terms of", 340)};
  EXPECT_EQ(RightEdge(page, page.regions[0]), 340);
  page.regions[1].lines[0].box.x0 = 100;  // another margin
  EXPECT_EQ(RightEdge(page, page.regions[0]), 150);
}

// A column below lines that cross the page.
TEST(Reflow, LinesBrokenByTheWidthOfTheirColumnAreJoined) {
  PageResult page =
      PageOf({Line("To record a sequence, simply press it,", 380),
              Line("then play your keyboard in time to the", 375),
              Line("click of the sequencer, and when it is at", 400),
              Line("its end, press it once more for a while", 390), Line("and listen.", 100)});
  page.regions.emplace_back();
  page.regions[1].lines = {Line("The sequencer is a tool for the professional", 900)};
  EXPECT_EQ(RightEdge(page, page.regions[0]), 400);
  EXPECT_EQ(Reflow(page.regions[0], 400, PageWords({})).size(), 1U);
  // Verse ends its lines elsewhere.
  for (const size_t i : {0, 1, 3}) page.regions[0].lines[i].box.x1 = 300;
  EXPECT_EQ(RightEdge(page, page.regions[0]), 900);
}

TEST(Reflow, UnreadLinesLeaveNoGap) {
  RegionResult region;
  region.lines = {Line("one", 300), Line("", 300), Line("two", 60)};
  EXPECT_EQ(Reflow(region, 350, PageWords({})), std::vector<std::string>{"one two"});
}

}  // namespace
}  // namespace platen
