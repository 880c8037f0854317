// The forms in which checkpoints of this family are stored: either naming, experts one by one or
// stacked, rotary tables, what trainers leave beside the weights. Each gives the answers of the
// plain form.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>

#include "model/checkpoint/safetensors_writer.h"
#include "model/families/inspect.h"
#include "tests/support/minillm.h"
#include "tests/support/snapshot_edits.h"

namespace platen::testing {
namespace {

constexpr const char* kChat = "tests/golden/minillm/mini-chat";

struct Tensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  std::string bytes;
};
using Tensors = std::map<std::string, Tensor>;

Tensor OfFloats(const std::vector<int64_t>& shape, const std::vector<float>& values) {
  Tensor tensor = {DType::kF32, shape, std::string(values.size() * sizeof(float), '\0')};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

// A copy of the golden snapshot with its tensors and config changed.
class Changed {
 public:
  using TensorChange = std::function<void(Tensors&)>;
  explicit Changed(const TensorChange& change, const nlohmann::json& config_patch = {}) {
    CopySnapshot(SourcePath(kChat), folder_);
    Tensors tensors;
    const Checkpoint checkpoint = Checkpoint::Open(SourcePath(kChat));
    for (const auto& [name, stored] : checkpoint.tensors()) {
      tensors[name] = {stored.dtype,
                       stored.shape,
                       {reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size()}};
    }
    if (change) change(tensors);
    Write(tensors);
    nlohmann::json config = ReadJson(std::string(kChat) + "/config.json");
    if (config_patch.is_object()) config.merge_patch(config_patch);
    folder_.Write("config.json", config.dump());
  }

  const TempFolder& folder() const { return folder_; }
  Snapshot Load() const { return LoadSnapshot(folder_.path()); }

  // The field that loading refuses; empty: none.
  std::string RefusedAt() const {
    try {
      Load();
      return "";
    } catch (const Error& e) {
      return e.location().field;
    }
  }

  // Greedy tokens and the bits of their probabilities.
  std::pair<std::vector<TokenId>, std::vector<float>> Answer() const {
    const Model model(std::make_unique<Snapshot>(Load()), BestKernels());
    Engine engine(model, {});
    Request request;
    request.task_text = "hi";
    request.max_new_tokens = 12;
    request.ignore_stop = true;
    const auto sequence = RunToEnd(engine, std::move(request));
    return {Decided(*sequence), sequence->result.probabilities};
  }

 private:
  void Write(const Tensors& tensors) const {
    std::vector<StoredTensor> stored;
    for (const auto& [name, tensor] : tensors) {
      stored.push_back({.name = name,
                        .dtype = tensor.dtype,
                        .shape = tensor.shape,
                        .bytes = std::as_bytes(std::span(tensor.bytes)),
                        .file = {},
                        .mapped = false});
    }
    WriteSafetensors(Folder::Open(folder_.path(), Folder::Missing::kFail), "model.safetensors",
                     stored, {});
  }

  TempFolder folder_;
};

// Every name that has `from` in it gets `to` in its place.
void Rename(Tensors& tensors, const std::string& from, const std::string& to) {
  Tensors renamed;
  for (auto& [name, tensor] : tensors) {
    std::string changed = name;
    if (const size_t at = changed.find(from); at != std::string::npos) {
      changed.replace(at, from.size(), to);
    }
    renamed[changed] = std::move(tensor);
  }
  tensors = std::move(renamed);
}

// The experts of a layer as two tensors.
void AddStacked(Tensors& tensors, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".mlp.experts.";
  Tensor gate_up = {DType::kBF16, {4, 40, 42}, ""}, down = {DType::kBF16, {4, 42, 20}, ""};
  for (int e = 0; e < 4; ++e) {
    const std::string expert = prefix + std::to_string(e);
    gate_up.bytes += tensors.at(expert + ".gate_proj.weight").bytes +
                     tensors.at(expert + ".up_proj.weight").bytes;
    down.bytes += tensors.at(expert + ".down_proj.weight").bytes;
  }
  tensors[prefix + "gate_up_proj"] = gate_up;
  tensors[prefix + "down_proj"] = down;
}

void DropExperts(Tensors& tensors, int layer) {
  const std::string prefix = "model.layers." + std::to_string(layer) + ".mlp.experts.";
  std::erase_if(tensors, [&](const auto& entry) {
    return entry.first.starts_with(prefix) && entry.first.ends_with(".weight");
  });
}

// cos and sin of the config's closed form, [rows, 8], times `factor`.
void AddTables(Tensors& tensors, int rows, float factor) {
  std::vector<float> cos, sin;
  for (int row = 0; row < rows; ++row) {
    for (int d = 0; d < 8; ++d) {
      const double angle = row * std::pow(10000.0, -2.0 * (d % 4) / 8);
      cos.push_back(factor * static_cast<float>(std::cos(angle)));
      sin.push_back(factor * static_cast<float>(std::sin(angle)));
    }
  }
  tensors["model.freqs_cos"] = OfFloats({rows, 8}, cos);
  tensors["model.freqs_sin"] = OfFloats({rows, 8}, sin);
}

const auto& PlainAnswer() {
  static const auto answer = Changed({}).Answer();
  return answer;
}

TEST(CheckpointForms, TheNamesOfTransformersAreAccepted) {
  const Changed renamed([](Tensors& tensors) {
    Rename(tensors, "q_a_norm", "q_a_layernorm");
    Rename(tensors, "kv_a_norm", "kv_a_layernorm");
    Rename(tensors, "kv_a_proj", "kv_a_proj_with_mqa");
    Rename(tensors, "shared_expert.", "shared_experts.");
  });
  EXPECT_TRUE(renamed.Load().warnings.empty());
  EXPECT_EQ(renamed.Answer(), PlainAnswer());
  const Changed mixed([](Tensors& tensors) {
    Rename(tensors, "layers.1.self_attn.kv_a_norm", "layers.1.self_attn.kv_a_layernorm");
    Rename(tensors, "layers.0.mlp.shared_expert.", "layers.0.mlp.shared_experts.");
  });
  EXPECT_TRUE(mixed.Load().warnings.empty());
  EXPECT_EQ(mixed.Answer(), PlainAnswer());
}

TEST(CheckpointForms, StackedExpertsAreAccepted) {
  const Changed stacked([](Tensors& tensors) {
    for (const int layer : {0, 1}) {
      AddStacked(tensors, layer);
      DropExperts(tensors, layer);
    }
  });
  EXPECT_TRUE(InspectSnapshot(stacked.folder().path()).usable());
  EXPECT_TRUE(stacked.Load().warnings.empty());
  EXPECT_EQ(stacked.Answer(), PlainAnswer());
}

TEST(CheckpointForms, ExpertsStoredTwiceAreRefusedByName) {
  const Changed both([](Tensors& tensors) { AddStacked(tensors, 0); });
  EXPECT_EQ(both.RefusedAt(), "model.layers.0.mlp.experts.gate_up_proj");
  const Changed by_layer([](Tensors& tensors) {
    AddStacked(tensors, 0);
    DropExperts(tensors, 0);
  });
  EXPECT_EQ(by_layer.RefusedAt(), "model.layers.0.mlp.experts.gate_up_proj");
}

TEST(CheckpointForms, HeadsThatTheCheckpointLacksAreLeftOut) {
  const Changed without({}, {{"num_nextn_predict_layers", nullptr}});  // MiniLLM's default is 1
  const Snapshot snapshot = without.Load();
  ASSERT_EQ(snapshot.warnings.size(), 1U);
  EXPECT_NE(snapshot.warnings[0].find("draft heads"), std::string::npos);
  EXPECT_EQ(without.Answer(), PlainAnswer());
}

TEST(CheckpointForms, StoredRotaryTablesAreUsedAndComparedWithTheConfig) {
  const Changed same([](Tensors& tensors) { AddTables(tensors, 4096, 1); });
  EXPECT_TRUE(same.Load().warnings.empty());
  EXPECT_EQ(same.Answer().first, PlainAnswer().first);
  const Changed other([](Tensors& tensors) { AddTables(tensors, 4096, 1.5F); });
  const Snapshot snapshot = other.Load();
  ASSERT_EQ(snapshot.warnings.size(), 1U);
  EXPECT_NE(snapshot.warnings[0].find("rotary tables differ"), std::string::npos);
  EXPECT_NE(other.Answer().second, PlainAnswer().second);
  // No more positions than rows.
  const Changed few([](Tensors& tensors) { AddTables(tensors, 70, 1); });
  EXPECT_EQ(few.Load().architecture->text().max_positions, 70);
  const Changed narrow([](Tensors& tensors) {
    AddTables(tensors, 70, 1);
    tensors["model.freqs_sin"].shape = {35, 16};
  });
  EXPECT_EQ(narrow.RefusedAt(), "model.freqs_sin");
  const Changed one([](Tensors& tensors) {
    AddTables(tensors, 70, 1);
    tensors.erase("model.freqs_sin");
  });
  EXPECT_EQ(one.RefusedAt(), "model.freqs_cos");
}

// What MiniLLM's trainer keeps beside the weights, and a scalar it saves with them.
TEST(CheckpointForms, FoldersOfATrainerAreAccepted) {
  const Changed folder([](Tensors& tensors) {
    for (const char* layer : {"0", "1"}) {
      tensors["model.layers." + std::string(layer) + ".mlp.aux_loss"] = OfFloats({}, {0.25F});
    }
  });
  folder.folder().Write("optimizer.npz", "PK");
  folder.folder().Write("state.json", "{");
  folder.folder().Write("model.safetensors.index.json.bak", "{");
  const Snapshot snapshot = folder.Load();
  EXPECT_TRUE(snapshot.warnings.empty()) << snapshot.warnings.front();
  EXPECT_EQ(folder.Answer(), PlainAnswer());
}

TEST(CheckpointForms, AdaptersFp8AndClipAreRefusedByTensor) {
  for (const std::string name :
       {"model.layers.0.self_attn.o_proj.base.weight",
        "model.layers.0.self_attn.o_proj.lora_A.weight",
        "model.layers.0.self_attn.o_proj.lora_B.default.weight",
        "model.layers.0.self_attn.o_proj.weight_scale_inv", "vision_proj.vision_proj.weight",
        "vision_encoder.embeddings.weight"}) {
    const Changed changed([&](Tensors& tensors) { tensors[name] = OfFloats({1}, {1}); });
    EXPECT_EQ(changed.RefusedAt(), name);
  }
  // Merged adapters leave their settings in config.json.
  EXPECT_EQ(Changed({}, {{"lora_r", 8}, {"lora_alpha", 16.0}}).RefusedAt(), "");
}

TEST(CheckpointForms, ALayerWithExpertsAgainstTheRuleIsRefusedByTensor) {
  EXPECT_EQ(Changed({}, {{"first_k_dense_replace", 1}}).RefusedAt(),
            "model.layers.0.mlp.gate.weight");
}

// As with every family: the stored head is used, and a sentence says so.
TEST(CheckpointForms, AStoredHeadBesideATiedEmbeddingIsUsedIfItDiffers) {
  const auto with_head = [](bool differs) {
    return Changed([=](Tensors& tensors) {
      Tensor head = tensors.at("model.embed_tokens.weight");
      if (differs) std::reverse(head.bytes.begin(), head.bytes.begin() + 2 * 42);
      tensors["lm_head.weight"] = head;
    });
  };
  EXPECT_TRUE(with_head(false).Load().warnings.empty());
  EXPECT_EQ(with_head(false).Answer(), PlainAnswer());
  EXPECT_EQ(with_head(true).Load().warnings.size(), 1U);
}

}  // namespace
}  // namespace platen::testing
