// Pages that were read in vain say so, with the bundled model.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

using Strings = std::vector<std::string>;

struct ReadPage {
  Strings doubts;  // codes
  std::string text;
};

// The one page of every document below FOLDER, by the document's name.
std::map<std::string, ReadPage> Read(const std::string& folder) {
  TempFolder out;
  const auto result = RunProgram({"ocr", folder, "-o", out / "o"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::map<std::string, ReadPage> pages;
  for (const auto& entry : fs::recursive_directory_iterator(out / "o")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" || path.filename() == "run.json") continue;
    ReadPage& page = pages[path.stem().string()];
    const Json json = Json::parse(ReadFile(path.string()))["pages"].at(0);
    for (const Json& doubt : json.value("doubts", Json::array())) {
      EXPECT_NE(doubt["text"], "");
      page.doubts.push_back(doubt["code"]);
    }
    for (const Json& region : json["regions"]) page.text += region["text"].get<std::string>() + " ";
  }
  return pages;
}

TEST(DoubtfulPages, NothingThatWasReadInVainIsSilent) {
  auto pages = Read(SourcePath("tests/data/doubts"));
  EXPECT_EQ(pages["greek.png"].doubts, Strings{"foreign_script"});
  EXPECT_EQ(pages["picture.jpg"].doubts, Strings{"no_text"});
  // Either way is right, silence is not.
  if (pages["light_on_dark.png"].text.find("old town") == std::string::npos) {
    EXPECT_EQ(pages["light_on_dark.png"].doubts, Strings{"no_text"});
  }
}

TEST(DoubtfulPages, BlankPagesAndCleanPrintAreNot) {
  auto pages = Read(SourcePath("tests/data/doubts"));
  ASSERT_EQ(pages.count("blank.jpg"), 1U);
  EXPECT_EQ(pages["blank.jpg"].doubts, Strings());
  EXPECT_EQ(pages["english.png"].doubts, Strings());
  EXPECT_NE(pages["english.png"].text.find("old town"), std::string::npos);
}

TEST(DoubtfulPages, NoSamplePageIs) {
  const auto pages = Read(SourcePath("assets/samples"));
  EXPECT_EQ(pages.size(), 11U);
  for (const auto& [name, page] : pages) EXPECT_EQ(page.doubts, Strings()) << name;
}

}  // namespace
}  // namespace platen
