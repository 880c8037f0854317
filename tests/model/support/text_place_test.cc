// Byte offsets as people find them in an editor.
#include "model/support/text_place.h"

#include <gtest/gtest.h>

#include "model/support/error.h"

namespace platen {
namespace {

using Pair = std::pair<int, int>;

Pair At(std::string_view text, size_t offset) {
  const TextPlace place = PlaceOf(text, offset);
  return {place.line, place.column};
}

TEST(PlaceOfTest, LinesAndColumnsCountFromOne) {
  const std::string text = "ab\ncd\n\ne";
  EXPECT_EQ(At(text, 0), Pair(1, 1));
  EXPECT_EQ(At(text, 1), Pair(1, 2));
  EXPECT_EQ(At(text, 2), Pair(1, 3));  // the line break ends its line
  EXPECT_EQ(At(text, 3), Pair(2, 1));
  EXPECT_EQ(At(text, 6), Pair(3, 1));
  EXPECT_EQ(At(text, 7), Pair(4, 1));
}

TEST(PlaceOfTest, AnOffsetBeyondTheTextIsItsEnd) {
  EXPECT_EQ(At("", 0), Pair(1, 1));
  EXPECT_EQ(At("", 9), Pair(1, 1));
  EXPECT_EQ(At("ab", 2), Pair(1, 3));
  EXPECT_EQ(At("ab\n", 99), Pair(2, 1));
}

TEST(PlaceOfTest, ColumnsCountCharactersNotBytes) {
  const std::string text = "\"\xC3\xA4\xE2\x82\xAC\" x";  // "ä€" x
  EXPECT_EQ(At(text, text.size() - 1), Pair(1, 6));
}

TEST(ErrorTest, APlaceInATextComesBeforeTheField) {
  ErrorLocation location{.file = "a.json", .field = "size", .offset = 7, .place = TextPlace{3, 20}};
  EXPECT_STREQ(Error(ErrorKind::kModel, location, "is odd").what(),
               "a.json, line 3, column 20: size: is odd");
  location.field.clear();
  EXPECT_STREQ(Error(ErrorKind::kModel, location, "is odd").what(),
               "a.json, line 3, column 20: is odd");
  location.file.clear();
  EXPECT_STREQ(Error(ErrorKind::kModel, location, "is odd").what(), "line 3, column 20: is odd");
  EXPECT_STREQ(Error(ErrorKind::kModel, {.file = "b", .field = "", .offset = 7}, "is odd").what(),
               "b (offset 7): is odd");
}

}  // namespace
}  // namespace platen
