// The .json outputs are what docs/schema/page-result.schema.json says.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/apps/platen/program.h"
#include "tests/support/json_schema.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ReadFile;
using testing::RunProgram;
using testing::SchemaErrors;
using testing::SourcePath;
using testing::TempFolder;

Json Schema(const std::string& name = "page-result") {
  return Json::parse(ReadFile(SourcePath("docs/schema/" + name + ".schema.json")));
}

std::vector<Json> Results(const std::vector<std::string>& inputs) {
  TempFolder out;
  std::vector<std::string> words = {"ocr"};
  words.insert(words.end(), inputs.begin(), inputs.end());
  words.insert(words.end(), {"-o", out / "o", "--format", "json"});
  EXPECT_NE(RunProgram(words).exit_code, 2);
  std::vector<Json> results;
  for (const auto& entry : fs::recursive_directory_iterator(out / "o")) {
    const fs::path& path = entry.path();
    if (path.extension() != ".json" || path.filename() == "run.json") continue;
    results.push_back(Json::parse(ReadFile(path.string())));
  }
  return results;
}

TEST(Schema, HoldsForAllSamplesAndForPagesThatFail) {
  TempFolder broken;
  fs::copy_file(SourcePath("assets/samples/pages/phototest.tif"), broken / "cut.tif");
  fs::resize_file(broken / "cut.tif", 3000);
  const std::vector<Json> results =
      Results({SourcePath("assets/samples"), SourcePath("tests/data/doubts"), broken / "cut.tif"});
  EXPECT_GE(results.size(), 14U);
  const Json schema = Schema();
  std::set<std::string> labels;
  size_t words = 0, cells = 0;
  for (const Json& result : results) {
    EXPECT_EQ(SchemaErrors(schema, result), std::vector<std::string>()) << result["source"];
    for (const Json& page : result["pages"]) {
      for (const Json& region : page["regions"]) {
        labels.insert(region["label"].get<std::string>());
        for (const Json& line : region["lines"]) words += line.value("words", Json::array()).size();
        if (region.contains("table")) cells += region["table"]["cells"].size();
      }
    }
  }
  EXPECT_GT(words, 1000U);
  EXPECT_GT(cells, 50U);
  for (const char* label : {"text", "title", "heading", "table", "page_number"}) {
    EXPECT_TRUE(labels.contains(label)) << label;
  }
}

TEST(Schema, HoldsForFailures) {
  TempFolder folder;
  fs::copy_file(SourcePath("assets/samples/pages/phototest.tif"), folder / "cut.tif");
  fs::resize_file(folder / "cut.tif", 3000);
  RunProgram({"ocr", folder / "cut.tif", "-o", folder / "o"});
  const Json schema = Schema("failure");
  std::istringstream lines(ReadFile(folder / "o/failures.jsonl"));
  std::vector<Json> failures = Json::parse(ReadFile(folder / "o/run.json"))["failures"];
  EXPECT_EQ(failures.size(), 1U);
  for (std::string line; std::getline(lines, line);) failures.push_back(Json::parse(line));
  EXPECT_EQ(failures.size(), 2U);
  for (Json failure : failures) {
    EXPECT_EQ(SchemaErrors(schema, failure), std::vector<std::string>());
    failure["page"] = "1";
    EXPECT_FALSE(SchemaErrors(schema, failure).empty());
  }
}

TEST(Schema, NoticesWhatIsWrong) {
  const Json schema = Schema();
  const Json good = Results({SourcePath("assets/samples/synthetic/invoice-150.png")}).at(0);
  ASSERT_TRUE(SchemaErrors(schema, good).empty());
  const auto spoilt = [&](const char* place, const Json& value) {
    Json bad = good;
    bad[Json::json_pointer(place)] = value;
    return !SchemaErrors(schema, bad).empty();
  };
  EXPECT_TRUE(spoilt("/schema", 1));
  EXPECT_TRUE(spoilt("/unknown", 1));
  EXPECT_TRUE(spoilt("/pages/0/width", "1240"));
  EXPECT_TRUE(spoilt("/pages/0/rotation", 45));
  EXPECT_TRUE(spoilt("/settings/dpi", {200}));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/reading_index", "0"));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/lines/0/word_boxes", "measured"));
  EXPECT_TRUE(spoilt("/pages/0/dpi", {150}));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/label", "poem"));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/score", 1.5));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/lines/0/words/0/text", ""));
  EXPECT_TRUE(spoilt("/pages/0/regions/0/lines/0/box", {1, 2, 3}));
}

}  // namespace
}  // namespace platen
