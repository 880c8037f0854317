// Which layout model is taken, and what results know of it.
#include "pipeline/layout_choice.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "model/support/error.h"
#include "tests/support/npy.h"
#include "tests/support/snapshot_edits.h"

namespace platen {
namespace {

namespace fs = std::filesystem;
using testing::CopySnapshot;
using testing::SourcePath;
using testing::TempFolder;

const std::string kLayoutModel = "tests/golden/pp_doclayout/snapshots/tiny-a";

LayoutChoice Choose(const std::string& given, const std::string& model_dir = "nowhere/model") {
  return ChooseLayout(given, model_dir, BoxRules::kPlaten, BestKernels());
}

TEST(ChooseLayout, TakesTheModelBesideTheReader) {
  const TempFolder folder;
  fs::create_directories(folder / "GLM-OCR");
  EXPECT_EQ(LayoutModelBeside(folder / "GLM-OCR"), "");
  EXPECT_EQ(Choose("", folder / "GLM-OCR").id, "");
  fs::copy(SourcePath(kLayoutModel), folder / "PP-DocLayoutV3_safetensors");
  const std::string beside = folder / "PP-DocLayoutV3_safetensors";
  for (const char* name : {"GLM-OCR", "GLM-OCR/", "other/../GLM-OCR"}) {
    EXPECT_EQ(LayoutModelBeside(folder / name), beside) << name;
  }
  const LayoutChoice taken = Choose("", folder / "GLM-OCR");
  EXPECT_EQ(taken.dir, beside);
  EXPECT_NE(taken.id, "");
  EXPECT_TRUE(taken.detector->WantsPagesInTurn());
  const LayoutChoice classical = Choose(kClassicalLayout, folder / "GLM-OCR");
  EXPECT_EQ(classical.id, "");
  EXPECT_FALSE(classical.detector->WantsPagesInTurn());
}

TEST(ChooseLayout, TheIdFollowsTheContentsNotTheFolder) {
  const TempFolder same, other;
  CopySnapshot(SourcePath(kLayoutModel), same);
  CopySnapshot(SourcePath(kLayoutModel), other);
  std::string config = ReadSmallFile(other / "preprocessor_config.json", 1 << 20);
  config.insert(config.find('{') + 1, "\"do_pad\": false,");
  other.Write("preprocessor_config.json", config);
  const TempFolder weights;
  CopySnapshot(SourcePath(kLayoutModel), weights);
  std::string tensors = ReadSmallFile(weights / "model.safetensors", 16 << 20);
  tensors[tensors.size() - 4] ^= 1;  // the last bit of the last weight
  weights.Write("model.safetensors", tensors);
  const std::string id = Choose(SourcePath(kLayoutModel)).id;
  EXPECT_NE(Choose(weights.path()).id, id);
  EXPECT_EQ(Choose(same.path()).id, id);
  EXPECT_NE(Choose(other.path()).id, id);
  EXPECT_NE(Choose(SourcePath("tests/golden/pp_doclayout/snapshots/tiny-c")).id, id);
}

TEST(ChooseLayout, AFolderWithoutALayoutModelIsRefused) {
  EXPECT_THROW(Choose("no/such/folder"), Error);
  EXPECT_THROW(Choose(SourcePath("tests/golden/snapshots/tiny-a")), Error);
}

// Weights so large that nothing finite comes out: a page is then laid out without the model.
TEST(ChooseLayout, AModelThatGivesNoNumbersLeavesThePageToTheBuiltInRules) {
  const TempFolder folder;
  CopySnapshot(SourcePath(kLayoutModel), folder);
  testing::SafetensorsParts parts =
      testing::SplitSafetensors(ReadSmallFile(folder / "model.safetensors", 16 << 20));
  const auto& range =
      parts.header["model.backbone.model.embedder.stem1.normalization.weight"]["data_offsets"];
  for (size_t at = range[0]; at < range[1].get<size_t>(); at += 4) {
    const float huge = 1e38F;
    std::memcpy(parts.data.data() + at, &huge, 4);
  }
  folder.Write("model.safetensors", testing::JoinSafetensors(parts));
  Image page(200, 300);
  for (size_t i = 0; i < page.rgb.size(); ++i) page.rgb[i] = static_cast<uint8_t>(i * 37);
  const PageLayout laid_out = Choose(folder.path()).detector->Detect(page);
  ASSERT_EQ(laid_out.warnings.size(), 1U);
  EXPECT_NE(laid_out.warnings[0].find("gives no numbers"), std::string::npos);
  EXPECT_TRUE(Choose(SourcePath(kLayoutModel)).detector->Detect(page).warnings.empty());
}

}  // namespace
}  // namespace platen
