// What poppler's programs print: the facts are found among the author's texts, whatever these are.
#include "stages/readers/poppler_output.h"

#include <gtest/gtest.h>

namespace platen {
namespace {

TEST(PopplerOutputTest, TheLastCountOfPagesCounts) {
  EXPECT_EQ(PagesFromPdfInfo("Title: x\nPages: 900\nPages:           3\n"), 3);
  EXPECT_EQ(PagesFromPdfInfo("Title: Pages: 3\n"), 0);
  EXPECT_EQ(PagesFromPdfInfo("Pages: none\n"), 0);
  EXPECT_EQ(PagesFromPdfInfo("Pages: inf\n"), 0);
  EXPECT_EQ(PagesFromPdfInfo(""), 0);
}

TEST(PopplerOutputTest, SizesAreRoundedUpToPixels) {
  const auto sizes = PageSizesFromPdfInfo(
      "Page    1 size:  595.28 x 841.89 pts (A4)\nPage 12345 size:  72 x 36 pts\n", 1, 12345);
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(PixelsOf(sizes.at(1), 200).width, 1654);
  EXPECT_EQ(PixelsOf(sizes.at(1), 200).height, 2339);
  EXPECT_EQ(PixelsOf(sizes.at(12345), 200).width, 200);
  EXPECT_EQ(PixelsOf(sizes.at(12345), 200).height, 100);
}

TEST(PopplerOutputTest, ASizeThatIsNoNumberIsNothing) {
  for (const char* side : {"nan", "-nan", "inf", "1e999", "-5", "x", ""}) {
    const auto sizes =
        PageSizesFromPdfInfo("Page    1 size:  " + std::string(side) + " x 10 pts\n", 1, 1);
    EXPECT_EQ(sizes.at(1).width, 0) << side;
  }
  const auto huge = PageSizesFromPdfInfo("Page    1 size:  1e300 x 10 pts\n", 1, 1);
  EXPECT_EQ(PixelsOf(huge.at(1), 72).width, INT32_MAX);
}

TEST(PopplerOutputTest, TheComplaintHasNoLabelAndNoControlCharacters) {
  EXPECT_EQ(PopplerComplaint("hm\nSyntax Error (123): no\tobject\nmore"), "no?object");
  EXPECT_EQ(PopplerComplaint("first\nsecond"), "first");
  EXPECT_EQ(PopplerComplaint("x Error without a label\ny: z"), "x Error without a label");
  EXPECT_EQ(PopplerComplaint(std::string(1000, 'a')).size(), 200U);
}

TEST(PpmBytes, AreHeaderAndPixels) {
  EXPECT_EQ(PpmBytes("P6\n4 3\n255\n"), 11U + 4 * 3 * 3);
  EXPECT_EQ(PpmBytes("P6\n4 3\n255\n" + std::string(50, 'P')), 11U + 4 * 3 * 3);
  for (const char* other : {"", "P6", "P6\n4", "P6\n4 3", "P6\n4 3\n255", "P5\n4 3\n255\n",
                            "P6\n4 3\n65535\n", "P6\n0 3\n255\n", "P6\n-4 -3\n255\n",
                            "P6\n4\n3\n255\n", "P6 4 3 255\n", "P6\n99999999999 3\n255\n"}) {
    EXPECT_EQ(PpmBytes(other), 0U) << other;
  }
}

TEST(ProgressOf, CountsPagesInTheirOrderUntilSomethingElseIsSaid) {
  const auto is = [](const char* errors, int num_done, bool is_silent) {
    const RenderProgress progress = ProgressOf(errors, 9);
    EXPECT_EQ(progress.num_done, num_done) << errors;
    EXPECT_EQ(progress.is_silent, is_silent) << errors;
  };
  is("", 0, true);
  is("9 12 ", 0, true);  // the line has not ended
  is("9 12 \n10 12 \n", 2, true);
  is("9 12 \n11 12 \n", 1, false);
  is("10 12 \n", 0, false);
  is("9 12 \nSyntax Error: 10 12 \n11 12 \n", 1, false);
  is("9 12 a.ppm\n", 0, false);
  is("9 12 Syntax Warning: x \n", 0, false);
  is("\n", 0, false);
}

}  // namespace
}  // namespace platen
