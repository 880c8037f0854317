// Figures cut out of a page.
#include "stages/cut_pictures.h"

#include <gtest/gtest.h>

#include "stages/readers/memory_document.h"

namespace platen {
namespace {

Image Page(bool coloured) {
  Image page(40, 30);
  for (size_t i = 0; i < page.rgb.size(); ++i) {
    page.rgb[i] = static_cast<uint8_t>(coloured ? i * 7 : i / 3 * 5);
  }
  return page;
}

PageLayout With(std::vector<std::pair<RegionKind, BoxF>> regions) {
  PageLayout layout;
  for (const auto& [kind, box] : regions) {
    LayoutRegion region;
    region.kind = kind;
    region.box = box;
    layout.regions.push_back(region);
  }
  return layout;
}

Image Read(const std::string& png) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(png.data());
  return OpenBytes({bytes, png.size()}, {})->ReadPage(0).image;
}

TEST(Pictures, HaveThePagesOwnPixels) {
  for (const bool coloured : {true, false}) {
    const Image page = Page(coloured);
    const auto pictures = CutPictures(page, With({{RegionKind::kFigure, {10.2F, 5, 19.2F, 11.5F}}}));
    ASSERT_EQ(pictures.size(), 1U);
    const Image back = Read(pictures[0].png);
    ASSERT_EQ(back.width, 10);
    ASSERT_EQ(back.height, 7);
    for (int y = 0; y < back.height; ++y) {
      for (int x = 0; x < back.width * 3; ++x) {
        ASSERT_EQ(back.Row(y)[x], page.Row(y + 5)[x + 30]) << x << " " << y;
      }
    }
  }
}

TEST(Pictures, AreFiguresAndChartsThatLieOnThePage) {
  const auto pictures =
      CutPictures(Page(true), With({{RegionKind::kText, {0, 0, 5, 5}},
                                    {RegionKind::kChart, {-5, -5, 100, 100}},
                                    {RegionKind::kFigure, {50, 0, 60, 10}},
                                    {RegionKind::kFigure, {3, 3, 3, 9}},
                                    {RegionKind::kFigure, {39.5F, 29.5F, 40, 30}}}));
  ASSERT_EQ(pictures.size(), 2U);
  EXPECT_EQ(pictures[0].region, 1);
  EXPECT_EQ(Read(pictures[0].png).rgb, Page(true).rgb);
  EXPECT_EQ(pictures[1].region, 4);
  EXPECT_EQ(Read(pictures[1].png).width, 1);
}

}  // namespace
}  // namespace platen
