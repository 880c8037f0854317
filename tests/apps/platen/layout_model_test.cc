// Layout models as users meet them: platen ocr, forward and inspect.
#include <set>

#include "tests/apps/platen/ocr_fixture.h"
#include "tests/support/json_schema.h"

namespace platen::testing {
namespace {

using nlohmann::json;

const std::string kGoldens = SourcePath("tests/golden/pp_doclayout/");

class LayoutModelTest : public OcrFixture {
 protected:
  json PageOf(const std::string& out) {
    return json::parse(ReadFile(folder_ / out + "/page.png.json"));
  }
  void TakePage() {
    std::filesystem::copy_file(kGoldens + "pages/tiny-a-stamp.png", folder_ / "page.png");
  }
};

TEST_F(LayoutModelTest, RegionsCarryTheModelsLabelsAndScores) {
  TakePage();
  const ProgramResult run = Ocr({"page.png", "--layout-model", kGoldens + "snapshots/tiny-a",
                                 "--box-rules", "sdk", "-o", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(Contains(run.err, "regions are found by")) << run.err;
  const json result = PageOf("out");
  EXPECT_EQ(SchemaErrors(json::parse(ReadFile(SourcePath("docs/schema/page-result.schema.json"))),
                         result),
            std::vector<std::string>());
  EXPECT_EQ(result["settings"]["box_rules"], "sdk");
  EXPECT_FALSE(result["settings"]["layout_model"].get<std::string>().empty());
  const json golden = json::parse(ReadFile(kGoldens + "cases/tiny-a/stamp/golden.json"));
  std::multiset<std::string> expected, labels;
  for (const json& region : golden["regions"]) expected.insert(region["label"]);
  for (const json& region : result["pages"][0]["regions"]) {
    if (region.contains("native_label")) labels.insert(region["native_label"]);
  }
  // Regions in which nothing is to be read leave no trace; those that are there have their labels.
  EXPECT_FALSE(labels.empty());
  EXPECT_TRUE(std::includes(expected.begin(), expected.end(), labels.begin(), labels.end()));
}

TEST_F(LayoutModelTest, AnotherLayoutModelReadsThePageAnew) {
  TakePage();
  ASSERT_EQ(Ocr({"page.png", "-o", "out"}).exit_code, 0);
  EXPECT_FALSE(PageOf("out")["settings"].contains("layout_model"));
  ASSERT_EQ(Ocr({"page.png", "-o", "out", "--layout-model", "classical"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["documents_finished_before"], 1);
  ASSERT_EQ(
      Ocr({"page.png", "-o", "out", "--layout-model", kGoldens + "snapshots/tiny-a"}).exit_code, 0);
  EXPECT_EQ(Report()["totals"]["documents_read"], 1);
  EXPECT_TRUE(PageOf("out")["settings"].contains("layout_model"));
}

TEST_F(LayoutModelTest, TheSameBytesWithAnyThreadsAndSlots) {
  TakePage();
  std::filesystem::copy_file(kGoldens + "pages/tiny-a-eurotext.png", folder_ / "other.png");
  const auto outputs = [&](const std::string& threads, const std::string& slots) {
    const std::string out = "out" + threads + "-" + slots;
    EXPECT_EQ(Ocr({"page.png", "other.png", "-o", out, "--layout-model",
                   kGoldens + "snapshots/tiny-a", "-j", threads, "--slots", slots})
                  .exit_code,
              0);
    return Outputs(folder_ / out);
  };
  const auto expected = outputs("1", "1");
  EXPECT_EQ(expected.size(), 6U);
  EXPECT_EQ(outputs("2", "4"), expected);
}

TEST_F(LayoutModelTest, AFolderThatHoldsNoneIsRefusedBeforeAnythingIsRead) {
  TakePage();
  const ProgramResult run = Ocr({"page.png", "-o", "out", "--layout-model", "nowhere"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(Contains(run.err, "nowhere: no such folder")) << run.err;
  const ProgramResult mistaken =
      Ocr({"page.png", "-o", "out", "--model", kGoldens + "snapshots/tiny-a"});
  EXPECT_EQ(mistaken.exit_code, 3);
  EXPECT_TRUE(Contains(mistaken.err, "--layout-model")) << mistaken.err;
}

TEST_F(LayoutModelTest, ForwardWritesTheArraysOfTheGoldensAndTheRegions) {
  const ProgramResult run = RunProgram({"forward", kGoldens + "snapshots/tiny-a", "--image",
                                        kGoldens + "pages/tiny-a-stamp.png", "--box-rules", "sdk",
                                        "--dump", folder_ / "dump"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json golden = json::parse(ReadFile(kGoldens + "cases/tiny-a/stamp/golden.json"));
  for (const auto& [name, array] : golden["arrays"].items()) {
    const Npy written = ReadNpy(folder_ / "dump/" + name + ".npy");
    EXPECT_EQ(json(written.shape), array[array.contains("full_shape") ? "full_shape" : "shape"])
        << name;
  }
  EXPECT_EQ(ReadNpy(folder_ / "dump/topk.npy").i64,
            ReadNpy(kGoldens + "cases/tiny-a/stamp/topk.npy").i64);
  EXPECT_EQ(ReadNpy(folder_ / "dump/resized.npy").u8,
            ReadNpy(kGoldens + "cases/tiny-a/stamp/resized.npy").u8);
  const json result = json::parse(ReadFile(folder_ / "dump/result.json"));
  ASSERT_EQ(result["detections"].size(), golden["detections"]["list"].size());
  ASSERT_EQ(result["regions"].size(), golden["regions"].size());
  for (size_t i = 0; i < result["regions"].size(); ++i) {
    EXPECT_EQ(result["regions"][i]["label"], golden["regions"][i]["label"]);
    EXPECT_EQ(result["regions"][i]["box"], golden["regions"][i]["box"]);
  }
}

TEST_F(LayoutModelTest, InspectDescribesItAndForwardWantsOneImage) {
  const ProgramResult inspected = RunProgram({"inspect", kGoldens + "snapshots/tiny-c"});
  EXPECT_EQ(inspected.exit_code, 0);
  EXPECT_TRUE(Contains(inspected.out, "layout model\n")) << inspected.out;
  EXPECT_TRUE(Contains(inspected.out, "usable: no problems found")) << inspected.out;
  EXPECT_EQ(RunProgram({"inspect", kGoldens + "snapshots/tiny-d"}).exit_code, 3);
  EXPECT_EQ(RunProgram({"forward", kGoldens + "snapshots/tiny-a"}).exit_code, 2);
}

}  // namespace
}  // namespace platen::testing
