// What list items begin with.
#include "stages/formats/list_mark.h"

#include <gtest/gtest.h>

#include <string>

namespace platen {
namespace {

using enum ListMark::Kind;

TEST(ListMark, IsABulletANumberOrALabelWithSomethingBehindIt) {
  const std::string dot = "\xE2\x80\xA2";
  EXPECT_EQ(FindListMark(dot + " one").kind, kBullet);
  EXPECT_EQ(FindListMark(dot + " one").bytes, 4U);
  EXPECT_EQ(FindListMark("- one").bytes, 2U);
  EXPECT_EQ(FindListMark("12. one").kind, kNumber);
  EXPECT_EQ(FindListMark("12. one").bytes, 4U);
  EXPECT_EQ(FindListMark("3) one").kind, kNumber);
  for (const char* label : {"a) one", "(a) one", "(3) one", "iv) one", "(iv) one"}) {
    EXPECT_EQ(FindListMark(label).kind, kLabel) << label;
  }
  EXPECT_EQ(FindListMark("(iv) one").bytes, 5U);
  EXPECT_EQ(FindListMark("\u2610 one").kind, kOpenTask);
  EXPECT_EQ(FindListMark("\u2612 one").kind, kDoneTask);
  EXPECT_EQ(FindListMark("\u2612 one").bytes, 4U);
}

TEST(ListMark, OtherBeginningsAreNone) {
  for (const char* text :
       {"", "-", "- ", "-one", "\u2014 Oui.", "1921. In May", "12.5 metres", "12.", "12. ", "a. b",
        "o homem", "(a)", "(see) this", "() x", ") x", "(100) x", "A. Smith"}) {
    EXPECT_FALSE(FindListMark(text)) << text;
  }
}

}  // namespace
}  // namespace platen
