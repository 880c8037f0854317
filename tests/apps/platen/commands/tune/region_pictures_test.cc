// Which line of a page a record is of.
#include "apps/platen/commands/tune/inspect/region_pictures.h"

#include <gtest/gtest.h>

namespace platen::testing {
namespace {

LineResult Line(const std::string& text, double top) {
  LineResult line;
  line.text = text;
  line.box = {0, top, 100, top + 10};
  return line;
}

// Two regions, of two lines and read as a whole; before them one that is not read.
PageResult MakePage() {
  PageResult page;
  page.regions.resize(3);
  page.regions[1].lines = {Line("one", 10), Line("one and the other", 20)};
  page.regions[2].text = "a whole\nregion";
  page.regions[2].finish = "stop";
  page.regions[2].box = {0, 50, 100, 90};
  return page;
}

double TopOf(const PageResult& page, int64_t crop, const std::string& text) {
  const auto box = BoxOf(page, crop, text);
  return box ? box->y0 : -1;
}

TEST(RegionPicturesTest, ARegionStandsWhereItsTextStands) {
  const PageResult page = MakePage();
  EXPECT_EQ(TopOf(page, 0, " one\n"), 10);
  EXPECT_EQ(TopOf(page, 1, "one and the other"), 20);
  EXPECT_EQ(TopOf(page, 2, "a whole\nregion"), 50);
  EXPECT_EQ(TopOf(page, 7, "and the"), 20) << "a piece of a line";
  EXPECT_EQ(TopOf(page, 3, "a whole\nregion"), 50) << "behind a line of two pieces";
}

TEST(RegionPicturesTest, WhatCannotBeToldIsNotGuessed) {
  const PageResult page = MakePage();
  EXPECT_EQ(TopOf(page, 1, "one"), -1) << "it is in two lines";
  EXPECT_EQ(TopOf(page, 0, "other text"), -1);
  EXPECT_EQ(TopOf(page, 0, " \n"), -1);
  EXPECT_EQ(TopOf(PageResult(), -1, "one"), -1);
  PageResult own = page;  // lines of the page's own text were no crops
  own.regions[1].lines[0].from_text_layer = true;
  own.regions[1].lines[0].text = "one and the other";
  EXPECT_EQ(TopOf(own, 0, "one and the other"), 20);
}

TEST(RegionPicturesTest, PlacesAreAPageAndACrop) {
  const auto place = ParsePlace("3/17");
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->page, 3);
  EXPECT_EQ(place->crop, 17);
  for (const char* text :
       {"", "3", "3/", "/3", "0/1", "3/-1", "3/1x", "99999999999/1", "1/99999999999", "a/b"}) {
    EXPECT_FALSE(ParsePlace(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace platen::testing
