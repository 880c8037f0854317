// platen compare on the bundled model and samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/apps/platen/program.h"
#include "tests/support/npy.h"
#include "tests/support/temp_folder.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::ProgramResult;
using testing::ProgramRun;
using testing::ReadFile;
using testing::RunProgram;
using testing::SourcePath;
using testing::TempFolder;

const std::string kPage = SourcePath("assets/samples/pages/eurotext.tif");
const std::string kMini = SourcePath("assets/platen-mini");

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramResult Compare(std::vector<std::string> words) {
  words.insert(words.begin(), "compare");
  return RunProgram(std::move(words));
}

// Characters of UTF-8.
int64_t Characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(CompareTest, ShowsWhatInt8ChangesOnAPage) {
  const ProgramResult result = Compare({kPage, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["a"]["precision"], "f32");
  EXPECT_EQ(report["b"]["precision"], "int8");
  EXPECT_LT(report["b"]["weight_bytes"], report["a"]["weight_bytes"]);
  EXPECT_GT(report["b"]["core_s"], 0);
  const Json& all = report["summary"];
  EXPECT_EQ(all["pages"], 1);
  EXPECT_GT(all["tokens"]["agreement"], 0.98);
  EXPECT_GT(all["logits"]["same_choice"], 0.98 * all["logits"]["places"].get<double>());
  // The stop of every region is a choice too.
  EXPECT_GT(all["logits"]["places"], all["tokens"]["tokens"]);
  EXPECT_GT(all["logits"]["largest_difference"], 0.0);
  EXPECT_LT(all["logits"]["largest_difference"], 10.0);

  const TempFolder folder;
  const ProgramResult read =
      RunProgram({"ocr", kPage, "-o", folder / "out", "--precision", "f32", "--format", "txt"});
  ASSERT_EQ(read.exit_code, 0) << read.err;
  EXPECT_EQ(report["pages"][0]["text"]["characters"],
            Characters(ReadFile(folder / "out/eurotext.tif.txt")));
}

TEST(CompareTest, AModelIsEqualToItself) {
  const ProgramResult result = Compare({kPage, "--with", kMini, "--precision", "int8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "exactly the same text")) << result.out;
  EXPECT_TRUE(Contains(result.out, "largest difference 0.0000")) << result.out;
  EXPECT_TRUE(Contains(result.out, "tokens    100.00 % equal")) << result.out;
}

TEST(CompareTest, TwoKindsOfAttentionAreCompared) {
  const ProgramResult result = Compare({kPage, "--attention", "f32,int8", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["a"]["precision"], report["b"]["precision"]);
  EXPECT_EQ(report["a"]["attention"], "f32");
  EXPECT_EQ(report["b"]["attention"], "int8");
  EXPECT_GT(report["summary"]["logits"]["largest_difference"], 0.0);
}

TEST(CompareTest, AnotherModelIsToldApartAndFailsTheLimit) {
  const TempFolder folder;
  fs::copy(kMini, folder / "other", fs::copy_options::recursive);
  std::string weights = ReadFile(kMini + "/model.safetensors");
  const auto tenth = static_cast<ptrdiff_t>(weights.size() / 10);
  std::fill(weights.begin() + tenth, weights.end() - tenth, '\0');
  fs::remove(folder / "other/model.safetensors");
  folder.Write("other/model.safetensors", weights);
  const std::vector<std::string> words = {kPage, "--with", folder / "other"};
  const ProgramResult result = Compare(words);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "clearly different")) << result.out;
  EXPECT_TRUE(Contains(result.out, "eurotext.tif p1")) << result.out;
  std::vector<std::string> limited = words;
  limited.insert(limited.end(), {"--fail-above", "0.5"});
  EXPECT_EQ(Compare(limited).exit_code, 1);
  limited.back() = "1000";
  EXPECT_EQ(Compare(limited).exit_code, 0);
}

TEST(CompareTest, ModelsWithOtherTokensAreComparedByTheirText) {
  const ProgramResult result =
      Compare({SourcePath("assets/samples/pages/phototest.tif"), "--with",
               SourcePath("tests/golden/snapshots/tiny-a"), "--max-new-tokens", "4"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(Contains(result.out, "not compared")) << result.out;
  EXPECT_TRUE(Contains(result.out, "clearly different")) << result.out;
}

TEST(CompareTest, WhatCannotBeReadFailsByItself) {
  const TempFolder folder;
  folder.Write("text.png", "no image");
  folder.Write("empty.tif", "");
  const ProgramResult result =
      Compare({folder / "text.png", folder / "empty.tif",
               SourcePath("assets/samples/pages/phototest.tif"), "--json"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(Contains(result.err, "empty.tif")) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["summary"]["pages"], 1);
  EXPECT_EQ(report["summary"]["pages_failed"], 2);
  EXPECT_NE(report["pages"][0]["error"], "");
}

TEST(CompareTest, FilesOfOneNameInTwoFoldersAreTwoPages) {
  const TempFolder folder;
  for (const char* name : {"x/a.tif", "y/a.tif"}) {
    fs::create_directories((fs::path(folder / name)).parent_path());
    fs::copy_file(SourcePath("assets/samples/pages/phototest.tif"), folder / name);
  }
  const ProgramResult result = Compare({folder / "x/a.tif", folder / "y/a.tif", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(Json::parse(result.out)["summary"]["pages"], 2);
}

TEST(CompareTest, GroupsAreChosenOnThePagesAndServeTheModel) {
  const TempFolder folder;
  const std::string written = folder / "int8.json";
  const std::string page = SourcePath("assets/samples/pages/phototest.tif");
  const ProgramResult result =
      Compare({page, "--choose-groups", "--group-bound", "0.4", "--json", "--write", written});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const Json report = Json::parse(result.out);
  EXPECT_EQ(report["effects"].size(), 6U);  // five candidates and the choice
  for (const Json& product : report["products"]) {
    const std::vector<double> errors = product["errors"];
    EXPECT_GT(errors.front(), 0) << product;
    EXPECT_LT(errors.back(), 0.2) << product;
  }
  Json plan = Json::parse(ReadFile(written));
  EXPECT_EQ(plan["int8"], report["int8"]);
  EXPECT_FALSE(plan["int8"]["groups"].empty());  // so tight a bound needs some

  fs::copy(kMini, folder / "model", fs::copy_options::recursive);
  Json own = Json::parse(ReadFile(folder / "model/platen.json"));
  own.update(plan);
  fs::remove(folder / "model/platen.json");
  folder.Write("model/platen.json", own.dump());
  const ProgramResult inspected = RunProgram({"inspect", folder / "model", "--json"});
  ASSERT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_TRUE(Contains(inspected.out, plan["int8"]["groups"].begin().key())) << inspected.out;
  EXPECT_EQ(Compare({page, "--with", folder / "model"}).exit_code, 0);
}

TEST(CompareTest, AGroupThatNamesNothingIsAnErrorOfTheModel) {
  const TempFolder folder;
  fs::copy(kMini, folder / "model", fs::copy_options::recursive);
  Json own = Json::parse(ReadFile(folder / "model/platen.json"));
  own["int8"] = {{"groups", {{"model.visual.downsampel", 64}}}};
  fs::remove(folder / "model/platen.json");
  folder.Write("model/platen.json", own.dump());
  const ProgramResult result = Compare({kPage, "--model", folder / "model"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(Contains(result.err, "did you mean model.visual.downsample?")) << result.err;
  EXPECT_EQ(RunProgram({"inspect", folder / "model"}).exit_code, 3);
}

TEST(CompareTest, WhatMakesNoSenseIsRefusedWithAReason) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "no input given; name files, a folder or - (see platen compare --help)"},
      {{"missing.tif"}, "missing.tif: no such file or folder"},
      {{SourcePath("tests/support")}, "there is no document to read"},
      {{kPage, "--precision", "f32"}, "both sides would be the same"},
      {{kPage, "--precision", "int8,f32,auto"}, "one name or two"},
      {{kPage, "--precision", "int4"}, "is not one of"},
      {{kPage, "--attention", "f32,int8,auto"}, "one name or two"},
      {{kPage, "--precision", "f32", "--attention", "int8"}, "both sides would be the same"},
      {{kPage, "--fail-above", "-1"}, "outside"},
      {{kPage, "--choose-groups", "--with", kMini}, "leave --with and --precision out"},
      {{kPage, "--choose-groups", "--precision", "f32,int8"}, "leave --with and --precision out"},
      {{kPage, "--wiht", "x"}, "did you mean --with?"},
  };
  for (const auto& [words, message] : cases) {
    const ProgramResult result = Compare(words);
    EXPECT_EQ(result.exit_code, 2) << message;
    EXPECT_TRUE(Contains(result.err, message)) << result.err;
  }
  EXPECT_EQ(Compare({kPage, "--with", "/nowhere"}).exit_code, 3);
}

}  // namespace
}  // namespace platen
