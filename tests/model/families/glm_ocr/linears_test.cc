// Products by name, and the K-groups that reach them.
#include "model/families/glm_ocr/linears.h"

#include <gtest/gtest.h>

#include "model/families/glm_ocr/product_names.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

std::unique_ptr<Model> Load(const QuantizationPlan& plan) {
  auto snapshot = std::make_unique<Snapshot>(LoadSnapshot(SourcePath("assets/platen-mini")));
  snapshot->config.quantization = plan;
  return std::make_unique<Model>(std::move(snapshot), BestKernels(), Precision::kInt8);
}

// Every product is what its name says: width and depth are those of the tensors of that name.
TEST(ListLinears, NamesAreThoseOfTheTensors) {
  const auto model = Load({});
  const Checkpoint& checkpoint = model->snapshot().checkpoint;
  for (const NamedLinear& entry : ListLinears(*model)) {
    const StoredTensor* tensor = checkpoint.Find(entry.name + ".weight");
    if (tensor == nullptr) {  // several tensors
      const size_t dot = entry.name.rfind('.');
      const bool qkv = entry.name.ends_with(".qkv");
      ASSERT_TRUE(qkv || entry.name.ends_with(".gate_up")) << entry.name;
      const std::string part = qkv ? ".q_proj.weight" : ".gate_proj.weight";
      tensor = checkpoint.Find(entry.name.substr(0, dot) + part);
      ASSERT_NE(tensor, nullptr) << entry.name;
      EXPECT_GE(entry.linear->columns(), tensor->shape[0]) << entry.name;
    } else if (entry.name.ends_with("gate_up_proj")) {
      EXPECT_EQ(entry.linear->columns(), tensor->shape[0] / 2) << entry.name;
    } else {
      EXPECT_EQ(entry.linear->columns(), tensor->shape[0]) << entry.name;
    }
    EXPECT_EQ(entry.linear->depth(), tensor->num_elements() / tensor->shape[0]) << entry.name;
  }
}

// A group of one product changes the scales of that product and of no other.
TEST(ListLinears, TheGroupOfAProductReachesItAlone) {
  const auto plain = Load({});
  const std::vector<NamedLinear> before = ListLinears(*plain);
  for (size_t changed = 0; changed < before.size(); ++changed) {
    QuantizationPlan plan;
    plan.Set(before[changed].name, 64);
    const auto model = Load(plan);
    const std::vector<NamedLinear> after = ListLinears(*model);
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].linear->bytes() > before[i].linear->bytes(), i == changed)
          << before[changed].name << " against " << before[i].name;
    }
  }
}

}  // namespace
}  // namespace platen::testing
