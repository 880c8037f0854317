// Which pages are doubtful, at the bounds of every rule.
#include "stages/doubts.h"

#include <gtest/gtest.h>

#include "stages/formats/page_json.h"

namespace platen {
namespace {

// What a model states: scripts, and below which mean confidence a page looks like another one.
ReadingConfig Trained(const std::vector<std::string>& scripts, double doubtful_below = 0.9) {
  ReadingConfig reading;
  reading.scripts = scripts;
  reading.doubtful_below = doubtful_below;
  return reading;
}

const ReadingConfig kLatin = Trained({"Latin"});

LineResult Line(double mean, int tokens = 10, const std::string& text = "some words") {
  LineResult line;
  line.text = text;
  line.confidence = {tokens, mean, mean / 2};
  return line;
}

PageResult PageOf(const std::vector<LineResult>& lines) {
  PageResult page;
  page.page = 1;
  page.regions.emplace_back();
  page.regions[0].lines = lines;
  for (const LineResult& line : lines) page.regions[0].text += line.text;
  return page;
}

// `low` lines of confidence 0.5 before others of 0.99.
PageResult PageWithLowLines(size_t low, size_t lines) {
  std::vector<LineResult> all(lines, Line(0.99));
  std::fill_n(all.begin(), low, Line(0.5));
  return PageOf(all);
}

std::vector<std::string> Codes(const PageResult& page, bool has_ink = true,
                               const ReadingConfig& reading = {}) {
  std::vector<std::string> codes;
  for (const Doubt& doubt : FindDoubts(page, has_ink, reading)) {
    codes.push_back(DoubtCode(doubt.kind));
  }
  return codes;
}

using Strings = std::vector<std::string>;

TEST(FindDoubts, AWellReadPageHasNone) {
  EXPECT_EQ(Codes(PageOf(std::vector<LineResult>(30, Line(0.98))), true, kLatin), Strings());
}

TEST(FindDoubts, NoTextThoughThereIsInk) {
  EXPECT_EQ(Codes(PageResult(), true), Strings{"no_text"});
  EXPECT_EQ(Codes(PageResult(), false), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.99, 1, "")}), true), Strings{"no_text"});
  EXPECT_EQ(Codes(PageOf({Line(0.99, 1, "")}), false), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.99, 1, ""), Line(0.99, 1, "7")}), true), Strings());
}

TEST(FindDoubts, APageThatFailedIsNotAlsoDoubtful) {
  PageResult page;
  page.error = "cannot be decoded";
  EXPECT_EQ(Codes(page), Strings());
  PageResult part;
  part.regions.emplace_back();
  part.regions[0].error = "1 of 1 lines could not be read";
  EXPECT_EQ(Codes(part), Strings());
}

TEST(FindDoubts, AFifthOfTheLinesIsTooMany) {
  EXPECT_EQ(Codes(PageWithLowLines(8, 40)), Strings{"low_confidence"});
  EXPECT_EQ(Codes(PageWithLowLines(7, 40)), Strings());
  EXPECT_EQ(FindDoubts(PageWithLowLines(18, 40), true, {}).at(0).text,
            "18 of 40 lines have a mean confidence below 0.60");
}

TEST(FindDoubts, OneLowLineAmongOthersIsNotEnough) {
  EXPECT_EQ(Codes(PageWithLowLines(1, 2)), Strings());
  EXPECT_EQ(Codes(PageWithLowLines(2, 6)), Strings{"low_confidence"});
  EXPECT_EQ(Codes(PageWithLowLines(1, 1)), Strings{"low_confidence"});
  EXPECT_EQ(FindDoubts(PageWithLowLines(1, 1), true, {}).at(0).text,
            "1 of 1 line has a mean confidence below 0.60");
}

TEST(FindDoubts, LinesWithoutTokensDoNotCount) {
  PageResult page = PageWithLowLines(2, 10);
  page.regions[0].lines.resize(40, Line(0, 0, ""));
  EXPECT_EQ(Codes(page), Strings{"low_confidence"});
}

TEST(FindDoubts, ConfidencesCountAsTheyAreStored) {
  EXPECT_EQ(Codes(PageOf({Line(0.59996)})), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.59994)})), Strings{"low_confidence"});
  EXPECT_EQ(Codes(PageOf({Line(0.89996, 20)}), true, kLatin), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.89994, 20)}), true, kLatin), Strings{"foreign_script"});
}

TEST(FindDoubts, RegionsReadAsAWholeCountAsLines) {
  PageResult page;
  page.regions.resize(2);
  for (RegionResult& region : page.regions) {
    region.text = "a paragraph";
    region.confidence = {40, 0.55, 0.1};
  }
  const std::vector<Doubt> doubts = FindDoubts(page, true, kLatin);
  ASSERT_EQ(doubts.size(), 2U);
  EXPECT_EQ(doubts[0].text, "2 of 2 regions have a mean confidence below 0.60");
  EXPECT_EQ(doubts[1].kind, DoubtKind::kForeignScript);
}

TEST(FindDoubts, AForeignScriptLowersTheMeanOverAllTokens) {
  // Long lines weigh more: (0.85 x 60 + 0.99 x 20) / 80 = 0.885, the mean of the lines is 0.92.
  const PageResult page = PageOf({Line(0.85, 60), Line(0.99, 20)});
  EXPECT_EQ(Codes(page, true, kLatin), Strings{"foreign_script"});
  EXPECT_EQ(
      FindDoubts(page, true, Trained({"Latin", "Greek"})).at(0).text,
      "the mean confidence of all text is 0.88, below 0.9: it looks like a script the model was "
      "not trained on (it was trained on Latin, Greek) or like text upside down");
  EXPECT_EQ(Codes(page, true, {}), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.90, 60), Line(0.90, 20)}), true, kLatin), Strings());
}

TEST(FindDoubts, AMeanJustBelowTheBoundIsNotShownAsTheBound) {
  EXPECT_NE(FindDoubts(PageOf({Line(0.8999, 20)}), true, kLatin).at(0).text.find("is 0.89, below"),
            std::string::npos);
}

TEST(FindDoubts, TheBoundIsTheModelsOwn) {
  const ReadingConfig strict = Trained({"Latin"}, 0.935);
  EXPECT_EQ(Codes(PageOf({Line(0.935, 20)}), true, strict), Strings());
  EXPECT_EQ(FindDoubts(PageOf({Line(0.9349, 20)}), true, strict).at(0).text.substr(0, 55),
            "the mean confidence of all text is 0.93, below 0.935: i");
  EXPECT_EQ(Codes(PageOf({Line(0.7, 20)}), true, Trained({"Latin"}, 0.65)), Strings());
}

LineResult LineThatEnds(const std::string& finish) {
  LineResult line = Line(0.99);
  line.finish = finish;
  return line;
}

TEST(FindDoubts, TextThatWasCutIsDoubtful) {
  EXPECT_EQ(Codes(PageOf({LineThatEnds("stop"), LineThatEnds("")})), Strings());
  EXPECT_EQ(Codes(PageOf({LineThatEnds("stop"), LineThatEnds("length")})), Strings{"token_limit"});
  const PageResult both =
      PageOf({LineThatEnds("repetition"), LineThatEnds("length"), LineThatEnds("repetition")});
  EXPECT_EQ(Codes(both), (Strings{"repetition", "token_limit"}));
  EXPECT_EQ(FindDoubts(both, true, kLatin).at(0).text,
            "text is cut at 2 places: it repeated itself without end, at another scale too");
  PageResult whole;
  whole.regions.resize(1);
  whole.regions[0].text = "a table";
  whole.regions[0].confidence = {40, 0.99, 0.9};
  whole.regions[0].finish = "repetition";
  EXPECT_EQ(Codes(whole), Strings{"repetition"});
}

TEST(FindDoubts, AFewCharactersTellNoScript) {
  EXPECT_EQ(Codes(PageOf({Line(0.7, 14)}), true, kLatin), Strings());
  EXPECT_EQ(Codes(PageOf({Line(0.7, 7), Line(0.7, 8)}), true, kLatin), Strings{"foreign_script"});
}

TEST(FindDoubts, AStoredPageGivesTheSameDoubts) {
  std::vector<LineResult> lines;
  for (int i = 0; i < 40; ++i) lines.push_back(Line(0.59990 + 0.00001 * i, 3 + i % 5));
  const PageResult page = PageOf(lines);
  const auto fresh = FindDoubts(page, true, kLatin);
  const auto stored = FindDoubts(PageFromJson(PageToJson(page)), true, kLatin);
  ASSERT_EQ(fresh.size(), stored.size());
  for (size_t i = 0; i < fresh.size(); ++i) EXPECT_EQ(fresh[i].text, stored[i].text);
}

}  // namespace
}  // namespace platen
