// The module table of GLM-OCR, and the group sizes that reach its linears.
#include "model/families/glm_ocr/modules.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "model/checkpoint/tensor_check.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

using glm_ocr::DescribeModules;
using glm_ocr::ReadConfig;

std::unique_ptr<Model> Load(const QuantizationPlan& plan) {
  auto snapshot = std::make_unique<Snapshot>(LoadSnapshot(SourcePath("assets/platen-mini")));
  snapshot->quantization = plan;
  return std::make_unique<Model>(std::move(snapshot), BestKernels(), Precision::kInt8);
}

int64_t NumElements(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// tests/data/released-config holds the configuration files of zai-org/GLM-OCR.
TEST(GlmOcrModules, OfTheReleasedModelAre526TensorsWith1325258240Elements) {
  const ModuleTable table =
      DescribeModules(ReadConfig(SourcePath("tests/data/released-config"))).table;
  std::vector<RequiredTensor> tensors = RequiredTensors(table);
  EXPECT_EQ(tensors.size(), 524U);
  for (const CopySpec& copy : table.copies()) tensors.push_back({copy.tensor, copy.section});
  EXPECT_EQ(tensors.size(), 526U);
  int64_t total = 0;
  std::map<std::string, int64_t> by_section;
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [spec, section] : tensors) {
    total += NumElements(spec.shape);
    by_section[section] += NumElements(spec.shape);
    EXPECT_TRUE(shapes.emplace(spec.name, spec.shape).second) << spec.name << " is listed twice";
  }
  EXPECT_EQ(total, 1'325'258'240);
  EXPECT_EQ(by_section["embedding"] + by_section["decoder"] + by_section["head"], 673'285'632);
  EXPECT_EQ(by_section["vision"] + by_section["merger"], 434'120'192);
  EXPECT_EQ(by_section["mtp"], 217'852'416);
  EXPECT_EQ(shapes["model.language_model.layers.16.eh_proj.weight"],
            (std::vector<int64_t>{1536, 3072}));
  EXPECT_EQ(shapes["model.visual.patch_embed.proj.weight"],
            (std::vector<int64_t>{1024, 3, 2, 14, 14}));
  EXPECT_EQ(shapes["model.visual.merger.down_proj.weight"], (std::vector<int64_t>{1536, 4608}));
}

TEST(GlmOcrModules, WithoutDraftLayerHaveNoMtpTensors) {
  glm_ocr::Config config = ReadConfig(SourcePath("tests/golden/snapshots/tiny-a"));
  const size_t with_mtp = RequiredTensors(DescribeModules(config).table).size();
  config.text.num_mtp_layers = 0;
  const ModuleTable table = DescribeModules(config).table;
  EXPECT_EQ(RequiredTensors(table).size(), with_mtp - 14);
  EXPECT_TRUE(table.copies().empty());
}

// Every linear is what its name says: width and depth are those of the tensors of that name.
TEST(GlmOcrModules, NamesOfLinearsAreThoseOfTheTensors) {
  const auto model = Load({});
  const Checkpoint& checkpoint = model->snapshot().checkpoint;
  for (const Module& module : model->modules().modules()) {
    if (!module.is_linear()) continue;
    const Linear& linear = *module.linear();
    const StoredTensor* tensor = checkpoint.Find(module.name + ".weight");
    if (tensor == nullptr) {  // several tensors
      const size_t dot = module.name.rfind('.');
      const bool qkv = module.name.ends_with(".qkv");
      ASSERT_TRUE(qkv || module.name.ends_with(".gate_up")) << module.name;
      const std::string part = qkv ? ".q_proj.weight" : ".gate_proj.weight";
      tensor = checkpoint.Find(module.name.substr(0, dot) + part);
      ASSERT_NE(tensor, nullptr) << module.name;
      EXPECT_GE(linear.columns(), tensor->shape[0]) << module.name;
    } else if (module.name.ends_with("gate_up_proj")) {
      EXPECT_EQ(linear.columns(), tensor->shape[0] / 2) << module.name;
    } else {
      EXPECT_EQ(linear.columns(), tensor->shape[0]) << module.name;
    }
    EXPECT_EQ(linear.depth(), tensor->num_elements() / tensor->shape[0]) << module.name;
  }
}

// A group size of one linear changes the scales of that linear and of no other.
TEST(GlmOcrModules, TheGroupSizeOfALinearReachesItAlone) {
  const auto bytes = [](const Model& model) {
    std::vector<std::pair<std::string, size_t>> linears;
    for (const Module& module : model.modules().modules()) {
      if (module.is_linear()) linears.emplace_back(module.name, module.linear()->bytes());
    }
    return linears;
  };
  const auto before = bytes(*Load({}));
  for (size_t changed = 0; changed < before.size(); ++changed) {
    QuantizationPlan plan;
    plan.Set(before[changed].first, 64);
    const auto after = bytes(*Load(plan));
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].second > before[i].second, i == changed)
          << before[changed].first << " against " << before[i].first;
    }
  }
}

}  // namespace
}  // namespace platen::testing
