// Settings of an option table of the test's own: former names in every place an option can stand.
#include "apps/platen/cli/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "apps/platen/cli/help.h"
#include "model/support/error.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

using testing::TempFolder;
using Texts = std::vector<std::string>;

const OptionTable& Table() {
  static const OptionTable table = {
      {.name = "config", .group = "G", .in_config = false},
      {.name = "new-name",
       .default_value = "x",
       .group = "G",
       .help = "Something.",
       .former_names = {"old-name", "first-name"}},
      {.name = "flag",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "G",
       .former_names = {"old-flag"}},
      {.name = "items", .type = OptionType::kTextList, .group = "G", .former_names = {"old-items"}},
      {.name = "number",
       .type = OptionType::kInteger,
       .default_value = "1",
       .group = "G",
       .max = 9,
       .former_names = {"old-number"}},
      {.name = "level",
       .type = OptionType::kInteger,
       .default_value = "1",
       .group = "G",
       .max = 9,
       .word = "auto"}};
  return table;
}

// Sets a variable while it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Settings, EveryOptionIsAVariable) {
  EXPECT_EQ(EnvironmentName("draft-length"), "PLATEN_DRAFT_LENGTH");
  const Environment name("PLATEN_NEW_NAME", "y"), number("PLATEN_NUMBER", "7"),
      items("PLATEN_ITEMS", "a\nb c"), flag("PLATEN_FLAG", "true");
  const Settings settings = ParseSettings(Table(), {"--number", "8"});
  EXPECT_EQ(settings.Text("new-name"), "y");
  EXPECT_EQ(settings.Integer("number"), 8) << "the command line wins";
  EXPECT_EQ(settings.Items("items"), (Texts{"a", "b c"}));
  EXPECT_TRUE(settings.Flag("flag"));
}

TEST(Settings, AVariableIsCheckedAndNamed) {
  const Environment number("PLATEN_NUMBER", "70");
  try {
    ParseSettings(Table(), {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("PLATEN_NUMBER"), std::string::npos) << e.what();
  }
}

TEST(Settings, AFileMayBeNamedByAVariable) {
  const TempFolder folder;
  const std::string path = folder.Write("c.json", R"({"number": 3, "items": ["a, b", "c"]})");
  const Environment config("PLATEN_CONFIG", path.c_str());
  const Settings settings = ParseSettings(Table(), {});
  EXPECT_EQ(settings.Integer("number"), 3);
  EXPECT_EQ(settings.Items("items"), (Texts{"a, b", "c"}));
}

TEST(Settings, WordsWithoutANameMayStandInAFile) {
  OptionTable table = Table();
  table.push_back({.name = "inputs", .type = OptionType::kTextList, .positional = true});
  const TempFolder folder;
  const std::string path = folder.Write("c.json", R"({"inputs": ["a, b", "c"]})");
  EXPECT_EQ(ParseSettings(table, {"--config", path}).positional(), (Texts{"a, b", "c"}));
  EXPECT_EQ(ParseSettings(table, {"--config", path, "d"}).positional(), (Texts{"d"}));
  EXPECT_EQ(ParseSettings(table, {"d", "e"}).Items("inputs"), (Texts{"d", "e"}));
  EXPECT_EQ(OptionHelp(table).find("inputs"), std::string::npos);
  EXPECT_THROW(ParseSettings(table, {"--inputs", "a"}), Error);
  const Environment inputs("PLATEN_INPUTS", "x");
  EXPECT_EQ(ParseSettings(table, {"--config", path}).positional(), (Texts{"x"}));
}

// What parsing refuses: "field: reason".
std::string Refusal(const Texts& words) {
  try {
    ParseSettings(Table(), words);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kUsage);
    return e.location().field + ": " + e.reason();
  }
  return "";
}

TEST(FormerNames, MeanTheOptionAndAreNoticed) {
  const Settings settings =
      ParseSettings(Table(), {"--first-name", "y", "--old-flag", "--old-items=a", "--old-items=b"});
  EXPECT_EQ(settings.Text("new-name"), "y");
  EXPECT_TRUE(settings.Flag("flag"));
  EXPECT_EQ(settings.Items("items"), (Texts{"a", "b"}));
  EXPECT_FALSE(settings.IsDefault("new-name"));
  ASSERT_EQ(settings.notices().size(), 3U);
  EXPECT_EQ(settings.notices()[0],
            "--first-name is called --new-name; the next release will not know --first-name any "
            "more");
}

TEST(FormerNames, TheNameOfTodayIsNotNoticed) {
  EXPECT_TRUE(ParseSettings(Table(), {"--new-name", "y", "--flag"}).notices().empty());
  EXPECT_TRUE(ParseSettings(Table(), {}).notices().empty());
}

TEST(FormerNames, StandInConfigurationFiles) {
  const TempFolder folder;
  const std::string path = folder.Write("c.json", R"({"old_name": "z", "number": 2})");
  const Settings settings = ParseSettings(Table(), {"--config", path});
  EXPECT_EQ(settings.Text("new-name"), "z");
  ASSERT_EQ(settings.notices().size(), 1U);
  EXPECT_EQ(settings.notices()[0],
            path +
                ": old_name is called new_name; the next release will not know old_name any "
                "more");
  EXPECT_EQ(ParseSettings(Table(), {"--config", path, "--new-name", "y"}).Text("new-name"), "y");
}

TEST(Settings, AWordMayStandInPlaceOfANumber) {
  EXPECT_EQ(ParseSettings(Table(), {"--level", "auto"}).Text("level"), "auto");
  EXPECT_EQ(ParseSettings(Table(), {"--level", "3"}).Integer("level"), 3);
  for (const auto& [value, reason] : {std::pair{"often", "\"often\" is not a whole number or auto"},
                                      std::pair{"10", "10 is outside 0 to 9"}}) {
    EXPECT_EQ(Refusal({"--level", value}), std::string("--level: ") + reason);
  }
}

TEST(FormerNames, TwoNamesOfOneOptionAreRefused) {
  EXPECT_EQ(Refusal({"--old-name", "y", "--new-name", "y"}),
            "--new-name: given more than once, also under its other name");
  const TempFolder folder;
  const std::string path = folder.Write("c.json", R"({"new_name": "z", "old_name": "z"})");
  EXPECT_EQ(Refusal({"--config", path}), "old_name: given twice, also under its other name");
}

TEST(FormerNames, ValuesAreCheckedUnderTheNameThatWasWritten) {
  EXPECT_EQ(Refusal({"--old-number", "10"}), "--old-number: 10 is outside 0 to 9");
}

TEST(FormerNames, AreNotInHelpAndNotSuggested) {
  EXPECT_EQ(OptionHelp(Table()).find("old"), std::string::npos);
  EXPECT_EQ(Refusal({"--old-nume", "x"}), "--old-nume: unknown option; --help lists all of them");
}

}  // namespace
}  // namespace platen
