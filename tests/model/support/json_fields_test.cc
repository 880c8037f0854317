// Where errors in JSON files are said to be, and what is suggested for misspelt keys.
#include "model/support/json_fields.h"

#include <gtest/gtest.h>

#include "model/support/error.h"

namespace platen {
namespace {

Error ParsingError(const std::string& text, uint64_t base_offset = 0) {
  try {
    ParseJson(text, "config.json", base_offset);
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::kUsage, {}, "accepted");
}

TEST(ParseJson, AFaultInATextFileIsNamedByLineAndColumn) {
  const Error error = ParsingError("{\n  \"a\": 1,\n  \"b\": [1, 2, \"\xC3\xA4\" 3]\n}\n");
  ASSERT_TRUE(error.location().place) << error.what();
  EXPECT_EQ(error.location().place->line, 3);
  EXPECT_EQ(error.location().place->column, 19);  // of the 3; the letter in front has two bytes
  EXPECT_TRUE(std::string(error.what()).starts_with("config.json, line 3, column 19: not valid"))
      << error.what();
  EXPECT_EQ(std::string(error.what()).find("offset"), std::string::npos) << error.what();
}

TEST(ParseJson, AFileThatIsCutOffEndsAtItsEnd) {
  const Error error = ParsingError("{\n \"a\": [1");
  ASSERT_TRUE(error.location().place) << error.what();
  EXPECT_EQ(error.location().place->line, 2);
  EXPECT_EQ(error.location().place->column, 9);
}

TEST(ParseJson, AFaultInAHeaderInsideABinaryFileIsNamedByItsOffset) {
  const Error error = ParsingError("{\n!", 8);
  EXPECT_FALSE(error.location().place);
  EXPECT_EQ(error.location().offset, 10U);
  EXPECT_NE(std::string(error.what()).find("(offset 10)"), std::string::npos) << error.what();
}

std::string RefusalOf(const std::string& key) {
  const nlohmann::json value = {{key, 1}};
  try {
    JsonObject(value, "platen.json").RefuseUnknownKeys({"granularity", "line_height", "prompts"});
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.location().field, key);
    return error.reason();
  }
}

TEST(RefuseUnknownKeys, SuggestsWhatIsNearAndListsTheKeysElse) {
  EXPECT_EQ(RefusalOf("prompts"), "");
  EXPECT_EQ(RefusalOf("granularty"), "unknown key; did you mean \"granularity\"?");
  EXPECT_EQ(RefusalOf("gran"), "unknown key; did you mean \"granularity\"?");
  EXPECT_EQ(RefusalOf("colour"), "unknown key; known: granularity, line_height, prompts");
}

TEST(ParseShallow, DeepNestingIsDiscardedAndBracketsInTextAreNone) {
  const std::string deep(kMaxJsonDepth + 1, '['), shallow(kMaxJsonDepth, '[');
  EXPECT_FALSE(NestsWithin(deep, kMaxJsonDepth));
  EXPECT_TRUE(ParseShallow<nlohmann::json>(deep + std::string(deep.size(), ']')).is_discarded());
  EXPECT_TRUE(ParseShallow<nlohmann::json>(shallow + std::string(shallow.size(), ']')).is_array());
  const std::string text = R"(["\"\\)" + deep + R"(","{{\\"])";
  EXPECT_EQ(ParseShallow<nlohmann::json>(text).size(), 2U);
  std::string many = "[";
  for (int i = 0; i < 200; ++i) many += "{\"a\":[]},";
  EXPECT_EQ(ParseShallow<nlohmann::json>(many + "1]").size(), 201U);
  EXPECT_TRUE(ParseShallow<nlohmann::json>("[").is_discarded());
}

}  // namespace
}  // namespace platen
