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
      "Page    1 size:  595.28 x 841.89 pts (A4)\nPage 12345 size:  72 x 36 pts\n", 1, 12345, 200);
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes.at(1).width, 1654);
  EXPECT_EQ(sizes.at(1).height, 2339);
  EXPECT_EQ(sizes.at(12345).width, 200);
  EXPECT_EQ(sizes.at(12345).height, 100);
}

TEST(PopplerOutputTest, ASizeThatIsNoNumberIsNothing) {
  for (const char* side : {"nan", "-nan", "inf", "1e999", "-5", "x", ""}) {
    const auto sizes =
        PageSizesFromPdfInfo("Page    1 size:  " + std::string(side) + " x 10 pts\n", 1, 1, 72);
    EXPECT_EQ(sizes.at(1).width, 0) << side;
  }
  const auto huge = PageSizesFromPdfInfo("Page    1 size:  1e300 x 10 pts\n", 1, 1, 72);
  EXPECT_EQ(huge.at(1).width, INT32_MAX);
}

TEST(PopplerOutputTest, TheComplaintHasNoLabelAndNoControlCharacters) {
  EXPECT_EQ(PopplerComplaint("hm\nSyntax Error (123): no\tobject\nmore"), "no?object");
  EXPECT_EQ(PopplerComplaint("first\nsecond"), "first");
  EXPECT_EQ(PopplerComplaint("x Error without a label\ny: z"), "x Error without a label");
  EXPECT_EQ(PopplerComplaint(std::string(1000, 'a')).size(), 200U);
}

}  // namespace
}  // namespace platen
