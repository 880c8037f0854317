// Words of a page's own text, given to regions and lines.
#include "stages/page_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

namespace platen {
namespace {

LayerWord Word(const std::string& text, double x0, double y0, double x1, double y1, int line = 1,
               int block = 1) {
  return {text, x0, y0, x1, y1, line, block};
}

BoxF Box(double x0, double y0, double x1, double y1) {
  return {static_cast<float>(x0), static_cast<float>(y0), static_cast<float>(x1),
          static_cast<float>(y1)};
}

LayoutLine Line(const BoxF& box) {
  LayoutLine line;
  line.box = box;
  line.quad = {{{box.x0, box.y0}, {box.x1, box.y0}, {box.x1, box.y1}, {box.x0, box.y1}}};
  return line;
}

LayoutRegion Region(const BoxF& box, const std::vector<BoxF>& lines) {
  LayoutRegion region;
  region.box = box;
  for (const BoxF& line : lines) region.lines.push_back(Line(line));
  return region;
}

// Two regions: two lines, and one line.
PageLayout TwoRegions() {
  PageLayout layout;
  layout.regions = {
      Region(Box(10, 10, 200, 60), {Box(10, 10, 200, 30), Box(10, 40, 200, 60)}),
      Region(Box(10, 100, 200, 120), {Box(10, 100, 200, 120)}),
  };
  return layout;
}

std::vector<std::string> TextsOf(const PlacedText& text) {
  std::vector<std::string> texts;
  for (const CropReading& reading : text.readings) {
    texts.push_back(std::to_string(reading.origin.region) + "." +
                    std::to_string(reading.origin.line) + " " + reading.text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(PageWords, WordsStandInTheirLinesFromLeftToRight) {
  const PlacedText text =
      PlaceWords({Word("one", 10, 8, 50, 32, 1), Word("four", 10, 101, 60, 119, 9),
                  Word("three", 15, 41, 90, 62, 3), Word("two", 60, 9, 100, 31, 2)},
                 TwoRegions());
  EXPECT_EQ(TextsOf(text), (Texts{"0.0 one two", "0.1 three", "1.0 four"}));
  const std::vector<WordResult>& words = text.readings[0].words;
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[1].begin, 4);
  EXPECT_EQ(words[1].end, 7);
  EXPECT_EQ(words[1].quad[2].x, 100);
  EXPECT_EQ(words[1].quad[2].y, 31);
  EXPECT_EQ(words[1].confidence, 1);
}

TEST(PageWords, WordsOfOneLineOfTheLayerKeepItsOrder) {
  EXPECT_EQ(
      TextsOf(PlaceWords({Word("first", 150, 10, 190, 30, 4), Word("second", 100, 10, 140, 30, 4),
                          Word("before", 10, 10, 40, 30, 5)},
                         TwoRegions())),
      (Texts{"0.0 before first second"}));
}

TEST(PageWords, AWordBetweenLinesGoesToTheOneItOverlapsMost) {
  EXPECT_EQ(TextsOf(PlaceWords({Word("low", 10, 25, 50, 55)}, TwoRegions())), (Texts{"0.1 low"}));
}

TEST(PageWords, WordsOfARegionInNoLineBecomeALineOfIt) {
  const PlacedText text = PlaceWords(
      {Word("between", 10, 31, 50, 39, 7), Word("one", 10, 10, 50, 30, 1)}, TwoRegions());
  EXPECT_EQ(TextsOf(text), (Texts{"0.0 one", "0.1 between"}));
  EXPECT_EQ(text.layout.regions[0].lines.size(), 3U);
  // A page that is read at once has no lines.
  PageLayout page;
  page.regions = {Region(Box(0, 0, 300, 300), {})};
  EXPECT_EQ(TextsOf(PlaceWords({Word("a", 10, 10, 20, 20, 1), Word("b", 30, 10, 40, 20, 1),
                                Word("c", 10, 30, 20, 40, 2)},
                               page)),
            (Texts{"0.0 a b", "0.1 c"}));
}

TEST(PageWords, TablesGetNoLinesThatAreInNoCell) {
  PageLayout layout = TwoRegions();
  layout.regions[0].table = TableLayout{1, 1, {}};
  EXPECT_EQ(TextsOf(PlaceWords({Word("between", 10, 31, 50, 39, 7)}, layout)),
            (Texts{"1.0 between"}));
}

TEST(PageWords, WordsInNoRegionBecomeRegionsWhereTheyStand) {
  const PlacedText text =
      PlaceWords({Word("end", 10, 200, 50, 220, 3, 3), Word("a", 10, 70, 50, 80, 1, 1),
                  Word("b", 10, 85, 50, 95, 2, 1)},
                 TwoRegions());
  EXPECT_EQ(TextsOf(text), (Texts{"1.0 a", "1.1 b", "3.0 end"}));
  EXPECT_EQ(text.layout.regions.size(), 4U);
  EXPECT_EQ(text.layout.regions[1].box.y1, 95);
}

TEST(PageWords, AFigureThatIsNotReadKeepsNoWords) {
  PageLayout layout = TwoRegions();
  layout.regions[0].read = false;
  const PlacedText text = PlaceWords({Word("label", 10, 40, 50, 60)}, layout);
  EXPECT_EQ(TextsOf(text), (Texts{"1.0 label"}));
  EXPECT_FALSE(text.layout.regions[0].read);
}

TEST(PageWords, TextThatRunsUpThePageIsARegionOfItsOwn) {
  const PlacedText text = PlaceWords(
      {Word("up", 20, 40, 30, 58, 2, 2), Word("words", 20, 12, 30, 38, 2, 2)}, TwoRegions());
  EXPECT_EQ(TextsOf(text), (Texts{"1.0 up words"}));
  EXPECT_EQ(text.words_with_ink, 1);
}

TEST(PageWords, WhatHasNoWordsIsLeftToBeRead) {
  const PlacedText text =
      PlaceWords({Word("one", 10, 10, 150, 30), Word("end", 10, 200, 50, 220, 3, 3)}, TwoRegions());
  const PageLayout left = WhatIsLeft(text);
  EXPECT_TRUE(left.regions[0].read);
  EXPECT_TRUE(left.regions[1].read);
  EXPECT_FALSE(left.regions[2].read);
  const auto crop = [](int region, int line) {
    CropOrigin origin;
    origin.region = region;
    origin.line = line;
    return origin;
  };
  EXPECT_TRUE(IsCovered(text, crop(0, 0)));
  EXPECT_FALSE(IsCovered(text, crop(0, 1)));
  EXPECT_TRUE(IsCovered(text, crop(0, CropOrigin::kWholeRegion)));
  EXPECT_FALSE(IsCovered(text, crop(1, CropOrigin::kWholeRegion)));
  EXPECT_NEAR(text.ink_with_words, 1 / 3.0, 1e-6);
  EXPECT_EQ(text.words_with_ink, 0.5);
}

TEST(PageWords, ALineUnderWordsOfOthersIsCovered) {
  // Letters of a word that runs up the page, found as a line.
  PageLayout layout;
  layout.regions = {Region(Box(10, 10, 20, 20), {Box(10, 10, 20, 20)})};
  const PlacedText text = PlaceWords({Word("sideways", 10, 0, 20, 90)}, layout);
  EXPECT_EQ(TextsOf(text), (Texts{"1.0 sideways"}));
  EXPECT_EQ(text.ink_with_words, 1);
  EXPECT_FALSE(WhatIsLeft(text).regions[0].read);
}

TEST(PageWords, WordsTurnWithThePage) {
  PageText layer;
  layer.words = {Word("a", 10, 20, 30, 25)};
  const auto at = [&](int degrees) {
    const LayerWord word = UprightWords(layer, 100, 200, degrees).at(0);
    return std::vector<double>{word.x0, word.y0, word.x1, word.y1};
  };
  EXPECT_EQ(at(0), (std::vector<double>{10, 20, 30, 25}));
  EXPECT_EQ(at(90), (std::vector<double>{175, 10, 180, 30}));
  EXPECT_EQ(at(180), (std::vector<double>{70, 175, 90, 180}));
  EXPECT_EQ(at(270), (std::vector<double>{20, 70, 25, 90}));
}

TEST(PageWords, WordsBeyondThePageAreNotSeen) {
  PageText layer;
  layer.words = {Word("in", 90, 10, 108, 30), Word("out", 95, 10, 120, 30),
                 Word("above", 10, -30, 20, 10), Word("thin", 50, 50, 50, 50),
                 Word("nowhere", 0.0 / 0.0, 0, 5, 5)};
  const std::vector<LayerWord> words = UprightWords(layer, 100, 200, 0);
  ASSERT_EQ(words.size(), 2U);
  EXPECT_EQ(words[0].x1, 100);
  EXPECT_EQ(words[1].text, "thin");
  EXPECT_EQ(words[1].x1 - words[1].x0, 1);
}

TEST(PageWords, UnmappedCharactersAreNoText) {
  const auto is_text = [](const std::string& text) { return IsText({Word(text, 0, 0, 1, 1)}); };
  EXPECT_TRUE(is_text("Größe"));
  EXPECT_TRUE(is_text("漢字"));
  EXPECT_TRUE(is_text("1911"));
  EXPECT_FALSE(is_text("\xEF\xBF\xBD\xEF\xBF\xBD"));
  EXPECT_FALSE(is_text("ab\xEE\x80\x80"));  // for private use
  EXPECT_FALSE(is_text("ab\x01"));
  EXPECT_FALSE(is_text("!!\"#a"));
  EXPECT_TRUE(is_text(std::string(99, 'a') + "\xEF\xBF\xBD"));
  EXPECT_FALSE(is_text(std::string(98, 'a') + "\xEF\xBF\xBD"));
  EXPECT_FALSE(IsText({}));
}

TEST(PageWords, TextStandsForThePageOnlyWhereItIsAllOfIt) {
  PageText layer;
  layer.words = {Word("one", 10, 10, 200, 30, 1), Word("two", 10, 40, 200, 60, 2),
                 Word("three", 10, 100, 200, 120, 3)};
  EXPECT_TRUE(IsWhole(layer, PlaceWords(layer.words, TwoRegions())));
  PageText added = layer;
  added.over_picture = true;
  EXPECT_FALSE(IsWhole(added, PlaceWords(added.words, TwoRegions())));
  PageText part = layer;
  part.words.pop_back();
  EXPECT_FALSE(IsWhole(part, PlaceWords(part.words, TwoRegions())));
  PageText hidden = layer;
  for (int i = 0; i < 4; ++i) hidden.words.push_back(Word("none", 10, 300, 20, 310, 9, 9));
  EXPECT_FALSE(IsWhole(hidden, PlaceWords(hidden.words, TwoRegions())));
}

// ------------------------------------------------------------------------------- random pages

struct RandomPage {
  std::vector<LayerWord> words;
  PageLayout layout;
};

RandomPage MakePage(unsigned seed) {
  std::mt19937 random(seed);
  const auto upto = [&](int n) { return static_cast<double>(random() % static_cast<unsigned>(n)); };
  RandomPage page;
  const int regions = static_cast<int>(upto(5));
  for (int i = 0; i < regions; ++i) {
    const double x = upto(200), y = upto(250);
    std::vector<BoxF> lines;
    const int count = static_cast<int>(upto(4));
    for (int k = 0; k < count; ++k) {
      lines.push_back(Box(x + upto(9), y + 20 * k + upto(9), x + 60 + upto(60), y + 20 * k + 18));
    }
    page.layout.regions.push_back(Region(Box(x, y, x + 120, y + 80), lines));
    page.layout.regions.back().read = random() % 5 != 0;
    if (random() % 5 == 0) page.layout.regions.back().table = TableLayout{1, 1, {}};
  }
  const int words = static_cast<int>(upto(40));
  for (int i = 0; i < words; ++i) {
    const double x = upto(280), y = upto(300);
    page.words.push_back(
        Word("w" + std::to_string(i), x, y, x + 1 + upto(40), y + 1 + upto(30), i / 3, i / 7));
  }
  return page;
}

double Common(double a0, double a1, double b0, double b1) {
  return std::max(0.0, std::min(a1, b1) - std::max(a0, b0));
}

// What the header says of the first step, word by word: the box of the line it goes to, or nothing.
std::optional<BoxF> LineByDefinition(const LayerWord& word, const RandomPage& page) {
  LayerWord all = word;  // around its line of the layer
  size_t bytes = 0;
  for (const LayerWord& other : page.words) {
    if (other.line != word.line) continue;
    all.x0 = std::min(all.x0, other.x0), all.x1 = std::max(all.x1, other.x1);
    all.y0 = std::min(all.y0, other.y0), all.y1 = std::max(all.y1, other.y1);
    bytes += other.text.size();
  }
  if (bytes >= 3 && all.y1 - all.y0 >= 2 * (all.x1 - all.x0)) return std::nullopt;
  std::optional<BoxF> best;
  double most = 0;
  for (const LayoutRegion& region : page.layout.regions) {
    for (const LayoutLine& line : region.lines) {
      const BoxF& box = line.box;
      const double x = Common(word.x0, word.x1, box.x0, box.x1);
      const double y = Common(word.y0, word.y1, box.y0, box.y1);
      const double lower = std::min(word.y1 - word.y0, static_cast<double>(box.y1 - box.y0));
      if (!region.read || x < (word.x1 - word.x0) / 2 || y < lower / 2 || x * y <= most) continue;
      most = x * y;
      best = box;
    }
  }
  return best;
}

TEST(PageWords, OnRandomPagesEachWordIsInOneLineTheOneByDefinition) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE(seed);
    const RandomPage page = MakePage(seed);
    const PlacedText text = PlaceWords(page.words, page.layout);
    std::map<std::string, const LayoutLine*> line_of;
    std::pair<int, int> before = {-1, -1};
    for (const CropReading& reading : text.readings) {
      const std::pair<int, int> place = {reading.origin.region, reading.origin.line};
      EXPECT_LT(before, place);
      before = place;
      const LayoutRegion& region = text.layout.regions.at(static_cast<size_t>(place.first));
      EXPECT_TRUE(region.read);
      std::string joined;
      for (const WordResult& word : reading.words) {
        const std::string part = reading.text.substr(static_cast<size_t>(word.begin),
                                                     static_cast<size_t>(word.end - word.begin));
        joined += (joined.empty() ? "" : " ") + part;
        const bool is_new =
            line_of.emplace(part, &region.lines.at(static_cast<size_t>(place.second))).second;
        EXPECT_TRUE(is_new) << part;
      }
      EXPECT_EQ(joined, reading.text);
    }
    ASSERT_EQ(line_of.size(), page.words.size());
    for (const LayerWord& word : page.words) {
      const BoxF& box = line_of.at(word.text)->box;
      const auto expected = LineByDefinition(word, page);
      if (expected) {
        EXPECT_EQ(std::tie(box.x0, box.y0, box.x1, box.y1),
                  std::tie(expected->x0, expected->y0, expected->x1, expected->y1))
            << word.text;
      } else {  // a line that words have made
        EXPECT_LE(box.x0, word.x0 + 0.01);
        EXPECT_GE(box.y1, word.y1 - 0.01);
      }
    }
    // What the layout had is there, in its order.
    size_t found = 0;
    for (const LayoutRegion& region : text.layout.regions) {
      if (found == page.layout.regions.size()) break;
      const LayoutRegion& next = page.layout.regions[found];
      found += region.box.x0 == next.box.x0 && region.box.y0 == next.box.y0 &&
               region.read == next.read && region.lines.size() >= next.lines.size();
    }
    EXPECT_EQ(found, page.layout.regions.size());
  }
}

}  // namespace
}  // namespace platen
