// config.json of a layout model: defaults, refusals, and the tensors that follow from it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/checkpoint/tensor_check.h"
#include "model/families/inspect.h"
#include "model/families/layout_snapshot.h"
#include "model/families/pp_doclayout/config.h"
#include "model/families/pp_doclayout/modules.h"
#include "model/support/error.h"
#include "tests/support/golden.h"
#include "tests/support/snapshot_edits.h"

namespace platen::pp_doclayout {
namespace {

using nlohmann::json;
using platen::testing::ApplyEdit;
using platen::testing::CopySnapshot;
using platen::testing::SourcePath;
using platen::testing::TempFolder;

const std::string kGoldens = "tests/golden/pp_doclayout/";

Config FullConfig(const std::string& file) {
  const TempFolder folder;
  std::filesystem::copy_file(SourcePath(kGoldens + "full/" + file), folder / "config.json");
  folder.Write("preprocessor_config.json", R"({"size": {"height": 800, "width": 800}})");
  return ReadConfig(folder.path());
}

// name -> shape, as `platen` wants them.
std::map<std::string, std::vector<int64_t>> Required(const Config& config) {
  std::map<std::string, std::vector<int64_t>> tensors;
  for (const auto& [spec, section] : RequiredTensors(DescribeModules(config).table)) {
    tensors[spec.name] = spec.shape;
  }
  return tensors;
}

// "model.x | newer name | F32 | [2, 3] | yes": the tensors of the released model.
std::map<std::string, std::vector<int64_t>> Published() {
  std::map<std::string, std::vector<int64_t>> tensors;
  std::istringstream lines(ReadSmallFile(SourcePath(kGoldens + "full/tensors.txt"), 1 << 20));
  std::string line;
  while (std::getline(lines, line)) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, '|');) fields.push_back(field);
    const auto trimmed = [](std::string s) {
      s.erase(0, s.find_first_not_of(' '));
      s.erase(s.find_last_not_of(' ') + 1);
      return s;
    };
    const std::string stored = trimmed(fields.at(4));
    if (stored == "counter" || stored == "unused") continue;
    tensors[trimmed(fields[0])] = json::parse(trimmed(fields[3])).get<std::vector<int64_t>>();
  }
  return tensors;
}

TEST(PpDocLayoutModules, OfTheReleasedArchitectureAreThoseOfItsFile) {
  auto published = Published();
  EXPECT_GT(published.size(), 860U);
  // Under two names; only the decoder's box head is ever needed.
  std::erase_if(published,
                [](const auto& entry) { return entry.first.starts_with("model.enc_bbox_head."); });
  EXPECT_EQ(Required(FullConfig("config.json")), published);
}

TEST(PpDocLayoutConfig, ANameOfTheBackboneStandsForItsSizes) {
  EXPECT_EQ(Required(FullConfig("config_minimal.json")), Required(FullConfig("config.json")));
}

// The message of the refusal after `edit` of a file of tiny-a; empty: accepted.
std::string Refusal(const std::string& file, const std::string& path, const json& value) {
  const TempFolder folder;
  CopySnapshot(SourcePath(kGoldens + "snapshots/tiny-a"), folder);
  json config = json::parse(ReadSmallFile(folder / file, 1 << 20));
  config[json::json_pointer(path)] = value;
  folder.Write(file, config.dump());
  try {
    LoadLayoutSnapshot(folder.path());
    return "";
  } catch (const Error& e) {
    return e.location().field + ": " + e.reason();
  }
}

TEST(PpDocLayoutConfig, WhatCannotBeHonouredIsRefusedByName) {
  const auto config = [](const std::string& path, const json& value) {
    return Refusal("config.json", path, value);
  };
  EXPECT_EQ(config("/d_model", 32), "");
  const auto names = [](const std::string& refusal, const std::string& field) {
    return refusal.starts_with(field + ": ");
  };
  for (const auto& [field, value] :
       std::map<std::string, json>{{"mask_enhanced", false},
                                   {"normalize_before", true},
                                   {"num_feature_levels", 4},
                                   {"learn_initial_query", true},
                                   {"encoder_activation_function", "relu"},
                                   {"decoder_activation_function", "gelu"},
                                   {"activation_function", "relu"},
                                   {"d_model", 1 << 20},
                                   {"d_model", -1},
                                   {"decoder_attention_heads", 7},
                                   {"num_queries", 4000},
                                   {"decoder_layers", 1.5},
                                   {"batch_norm_eps", 0},
                                   {"anchor_image_size", {640, 640}},
                                   {"feat_strides", {4, 8, 16}},
                                   {"id2label", json::object()}}) {
    EXPECT_TRUE(names(config("/" + field, value), field)) << config("/" + field, value);
  }
  for (const auto& [field, value] :
       std::map<std::string, json>{{"use_learnable_affine_block", true},
                                   {"stem_strides", {2, 1, 1, 1, 1}},
                                   {"stage_kernel_size", {3, 4, 5, 5}},
                                   {"stage_in_channels", {13, 24, 40, 56}},
                                   {"stage_mid_channels", {8, 10, 12}}}) {
    const std::string refusal = config("/backbone_config/" + field, value);
    EXPECT_TRUE(names(refusal, "backbone_config." + field)) << refusal;
  }
  const auto image = [](const std::string& path, const json& value) {
    return Refusal("preprocessor_config.json", path, value);
  };
  EXPECT_TRUE(names(image("/image_mean", {0.5, 0.5, 0.5}), "image_mean"));
  EXPECT_TRUE(names(image("/resample", 2), "resample"));
  EXPECT_TRUE(names(image("/size/height", 161), "size.height"));
  EXPECT_TRUE(names(image("/size/width", 1 << 20), "size.width"));
}

TEST(PpDocLayoutConfig, MapsWithoutEndAreRefusedBeforeAnythingIsAllocated) {
  const std::string refusal =
      Refusal("config.json", "/backbone_config/stage_numb_of_layers", {64, 64, 64, 64});
  EXPECT_TRUE(refusal.starts_with("model.backbone") || refusal.starts_with("backbone_config"))
      << refusal;
  const TempFolder folder;
  CopySnapshot(SourcePath(kGoldens + "snapshots/tiny-a"), folder);
  json config = json::parse(ReadSmallFile(folder / "config.json", 1 << 20));
  config["backbone_config"]["stage_mid_channels"] = {8192, 8192, 8192, 8192};
  folder.Write("config.json", config.dump());
  folder.Write("preprocessor_config.json", R"({"size": {"height": 2048, "width": 2048}})");
  EXPECT_THROW(ReadConfig(folder.path()), Error);
}

TEST(PpDocLayoutConfig, AnotherVariantOfTheArchitectureIsRefusedWithItsReason) {
  try {
    ReadConfig(SourcePath(kGoldens + "snapshots/tiny-d"));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.location().field, "backbone_config.use_learnable_affine_block");
    EXPECT_NE(std::string(e.reason()).find("only false is supported"), std::string::npos);
  }
}

TEST(PpDocLayoutSnapshot, IsInspectedWithoutATokenizer) {
  for (const char* name : {"tiny-a", "tiny-b", "tiny-c"}) {
    const InspectReport report = InspectSnapshot(SourcePath(kGoldens + "snapshots/" + name));
    const std::string text = FormatInspectReport(report);
    EXPECT_TRUE(report.usable()) << text;
    EXPECT_TRUE(report.unexpected.empty()) << text;
    EXPECT_EQ(text.find("draft"), std::string::npos) << text;
    EXPECT_NE(text.find("layout model\n"), std::string::npos) << text;
    EXPECT_EQ(json::parse(InspectReportJson(report))["config"]["model_type"], "pp_doclayout_v3");
  }
}

TEST(PpDocLayoutSnapshot, ModelsThatReadAndThatFindRegionsAreNotMistaken) {
  const std::string layout = SourcePath(kGoldens + "snapshots/tiny-a");
  const std::string reader = SourcePath("tests/golden/snapshots/tiny-a");
  const FamilyRegistry& families = FamilyRegistry::BuiltIn();
  EXPECT_TRUE(families.IsLayoutModel(layout));
  EXPECT_FALSE(families.IsLayoutModel(reader));
  EXPECT_FALSE(families.IsLayoutModel("no/such/folder"));
  try {
    families.Read(layout);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_NE(e.reason().find("--layout-model"), std::string::npos);
  }
  EXPECT_THROW(families.ReadLayout(reader), Error);
}

}  // namespace
}  // namespace platen::pp_doclayout
