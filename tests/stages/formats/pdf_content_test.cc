// Content of PDF pages without its invisible text.
#include "stages/formats/pdf_content.h"

#include <gtest/gtest.h>

#include <random>

namespace platen {
namespace {

std::string Left(const std::string& content, int mode = kVisibleText) {
  const auto made = WithoutInvisibleText(content, mode);
  return made ? made->content : "given up";
}

TEST(WithoutInvisibleText, LeavesOutWhatShowsTextInModeThree) {
  const auto made =
      WithoutInvisibleText("q BT 3 Tr /F 9 Tf 1 0 0 1 5 6 Tm (old (text\\)) x) Tj ET Q");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->content, "q BT 3 Tr /F 9 Tf 1 0 0 1 5 6 Tm  ET Q");
  EXPECT_TRUE(made->removed);
  EXPECT_FALSE(made->other_text);
  EXPECT_EQ(Left("BT 3 Tr[(a)-20.5<6 1>]TJ ET"), "BT 3 Tr ET");
  EXPECT_EQ(Left("BT 3 Tr <00410042> Tj ET"), "BT 3 Tr  ET");
}

TEST(WithoutInvisibleText, OtherTextStaysByteForByte) {
  for (const char* content :
       {"BT (a) Tj ET", "BT 0 Tr (a) Tj 7 Tr (b) Tj ET", "BT 3 Tr ET BT 0 Tr [(a)] TJ ET",
        "q 3 Tr Q BT (a)Tj ET", "% 3 Tr (x) Tj\nBT (a) ' ET", "/3#20Tr gs BT (3 Tr) Tj ET",
        "/P <</MCID 0/A(3 Tr)>> BDC BT (a)Tj ET EMC"}) {
    const auto made = WithoutInvisibleText(content);
    ASSERT_TRUE(made) << content;
    EXPECT_EQ(made->content, content);
    EXPECT_FALSE(made->removed);
    EXPECT_TRUE(made->other_text);
  }
  EXPECT_EQ(Left(""), "");
  EXPECT_EQ(Left("\t% a comment"), "\t% a comment");
}

TEST(WithoutInvisibleText, TheModeIsPartOfTheSavedState) {
  EXPECT_EQ(Left("3 Tr q 0 Tr BT (a) Tj ET Q BT (b) Tj ET"), "3 Tr q 0 Tr BT (a) Tj ET Q BT  ET");
  EXPECT_EQ(Left("Q Q BT 3 Tr (a) Tj ET"), "Q Q BT 3 Tr  ET");
  EXPECT_EQ(Left("BT (a) Tj ET", kInvisibleText), "BT  ET");
}

// ' and " move to the next line, and " sets the spaces, for the lines that follow too.
TEST(WithoutInvisibleText, LinesAfterItStayWhereTheyAre) {
  EXPECT_EQ(Left("BT 3 Tr 12 TL(a)'(b)' 0 Tr (c) ' ET"), "BT 3 Tr 12 TL T* T* 0 Tr (c) ' ET");
  EXPECT_EQ(Left("BT 3 Tr 1 2 (a)\" ET"), "BT 3 Tr  1 Tw 2 Tc T* ET");
  EXPECT_EQ(Left("BT 3 Tr (a) Tj 0 Tr 5 0 Td (c) Tj ET"), "BT 3 Tr  0 Tr 5 0 Td (c) Tj ET");
}

TEST(WithoutInvisibleText, GivesUpWhereTextStandsBehindIt) {
  EXPECT_EQ(Left("BT 3 Tr (a) Tj 0 Tr (c) Tj ET"), "given up");
  EXPECT_EQ(Left("BT 3 Tr (a) ' 0 Tr [(c)] TJ ET"), "given up");
}

TEST(WithoutInvisibleText, GivesUpOnWhatItCannotTakeApart) {
  for (const char* content :
       {"BT 3 Tr (a Tj ET", "BT 3 Tr <61 Tj ET", "3 Tr ) Tj", "{ 3 Tr }", "Tr", "3.5 Tr", "9 Tr",
        "/a Tr", "3 Tr Tj", "3 Tr 1 (a) \"", "Do", "BI /W 1 ID \x01\x02 3 Tr"}) {
    EXPECT_EQ(Left(content), "given up") << content;
  }
  EXPECT_EQ(Left(std::string(100'000, 'q') + ""), std::string(100'000, 'q')) << "one operator";
  std::string deep;
  for (int i = 0; i < 20'000; ++i) deep += "q ";
  EXPECT_EQ(Left(deep), "given up");
}

TEST(WithoutInvisibleText, DataOfInlineImagesIsNoContent) {
  const std::string image = "BI /W 9 /H 1 /CS /G ID \x01 EI\x02 3 Tr (x) Tj EI\n";
  EXPECT_EQ(Left(image + "BT 3 Tr (a) Tj ET"), image + "BT 3 Tr  ET");
  EXPECT_EQ(Left("BI/W 1 ID x EI"), "BI/W 1 ID x EI");
}

TEST(WithoutInvisibleText, SaysWhatIsDrawnAndInWhichMode) {
  const auto made = WithoutInvisibleText("/A Do q 3 Tr /B Do Q/C Do");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->drawn, (std::map<std::string, int>{{"/A", 0}, {"/B", 3}, {"/C", 0}}));
  EXPECT_EQ(Left("/A Do 3 Tr /A Do"), "given up");
  EXPECT_EQ(Left("/A Do /A Do"), "/A Do /A Do");
}

// Whatever it is given: what is left has none to remove, and nothing visible is lost.
TEST(WithoutInvisibleText, OnceIsEnough) {
  const std::vector<std::string> parts = {"q ",      "Q ",     "BT ",      "ET ",       "3 Tr ",
                                          "0 Tr ",   "(a)Tj",  "[(b)]TJ ", "1 2(c)\" ", "(d)' ",
                                          "1 0 Td ", "/X Do ", "T* ",      "% x\n",     "<62> Tj "};
  std::mt19937 random(20261125);
  int removed = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string content;
    for (int i = 0; i < 12; ++i) content += parts[random() % parts.size()];
    const auto once = WithoutInvisibleText(content);
    if (!once) continue;
    removed += once->removed;
    const auto twice = WithoutInvisibleText(once->content);
    ASSERT_TRUE(twice) << content;
    EXPECT_FALSE(twice->removed) << content;
    EXPECT_EQ(twice->content, once->content) << content;
    EXPECT_EQ(twice->other_text, once->other_text);
    EXPECT_EQ(twice->drawn, once->drawn);
  }
  EXPECT_GT(removed, 1000);
}

}  // namespace
}  // namespace platen
