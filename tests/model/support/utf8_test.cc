// Well-formed UTF-8 stays, everything else is replaced by one rule.
#include "model/support/utf8.h"

#include <gtest/gtest.h>

#include <utility>

namespace platen {
namespace {

TEST(Utf8, ReplacesEachMaximalIllFormedPrefixOnce) {
  const std::string r(kReplacementCharacter);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\xE4\xB8", r},
      {"\xED\xA0\x80", r + r + r},
      {"\xF0\x9F\x98"
       "A",
       r + "A"},
      {"\xC0\xAF", r + r},
      {"\xF4\x90\x80\x80", r + r + r + r},
      {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
       "A",
       r + r + r + r + "A"},
      {"a\xCC\x81", "a\xCC\x81"},
      {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
  };
  for (const auto& [bytes, expected] : cases) EXPECT_EQ(ToValidUtf8(bytes), expected);
}

TEST(Utf8, ReadsCharactersOfEveryLength) {
  const std::vector<uint32_t> expected = {'a', 0xE9, 0x4E2D, 0x1F600, 0xFFFD, 0xFFFD, 'b'};
  EXPECT_EQ(CodePoints("a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80\xE4\xB8\xFF"
                       "b"),
            expected);
  EXPECT_TRUE(CodePoints("").empty());
}

TEST(Utf8, TellsWhetherTheEndIsDecided) {
  EXPECT_TRUE(EndsWithWholeCharacter(""));
  EXPECT_TRUE(
      EndsWithWholeCharacter("\xE4\xB8"
                             "A"));
  EXPECT_TRUE(EndsWithWholeCharacter("\xE4\xB8\xAD"));
  EXPECT_FALSE(EndsWithWholeCharacter("A\xE4\xB8"));
  EXPECT_FALSE(EndsWithWholeCharacter("\xAD"));
  EXPECT_FALSE(EndsWithWholeCharacter("\xEF\xBF\xBD"));
}

TEST(Utf8, TellsABegunCharacterAtTheEnd) {
  const std::string text = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80";
  const std::vector<size_t> expected = {0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0};
  for (size_t length = 0; length <= text.size(); ++length) {
    EXPECT_EQ(UnfinishedLength(text.substr(0, length)), expected[length]) << length;
  }
  EXPECT_EQ(UnfinishedLength("\xE0\x80"), 0U) << "no character begins so";
  EXPECT_EQ(UnfinishedLength("a\x9F"), 0U);
}

}  // namespace
}  // namespace platen
