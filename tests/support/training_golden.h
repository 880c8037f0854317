// Goldens of training (tests/golden/mtp_training) and what is needed to compute them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/tensor_check.h"
#include "model/families/registry.h"
#include "model/training/adamw.h"
#include "model/training/batch_gradient.h"
#include "model/training/random_start.h"
#include "model/training/tuner.h"
#include "tests/support/golden.h"
#include "tests/support/packed_golden.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {

// One folder: a snapshot with its draft layer or heads, recorded pages, results.
class TrainingGolden {
 public:
  explicit TrainingGolden(const std::string& name)
      : golden_("tests/golden/mtp_training/" + name),
        dir_(MakeSnapshot()),
        architecture_(FamilyRegistry::BuiltIn().Read(dir_)),
        checkpoint_(Checkpoint::Open(dir_)) {
    architecture_->Settle(checkpoint_);
    shape_ = name == "residual" ? HeadsShape() : architecture_->Draft().value();
    SetEpsilons();
    for (size_t i = 0; i < json()["pages"].size(); ++i) pages_.push_back(ReadPage(i));
  }

  const nlohmann::json& json() const { return golden_.json; }
  const GoldenCase& golden() const { return golden_; }
  DraftShape& shape() { return shape_; }
  const std::vector<TrainingPage>& pages() const { return pages_; }
  const std::string& dir() const { return dir_; }
  const Architecture& architecture() const { return *architecture_; }

  std::vector<const TrainingPage*> Pages(const std::vector<size_t>& which) const {
    std::vector<const TrainingPage*> pages;
    for (const size_t i : which) pages.push_back(&pages_[i]);
    return pages;
  }
  std::vector<const TrainingPage*> AllPages() const {
    std::vector<const TrainingPage*> pages;
    for (const TrainingPage& page : pages_) pages.push_back(&page);
    return pages;
  }

  template <class T>
  Parameters<T> MakeParameters() const {
    Parameters<T> parameters(shape_);
    for (size_t t = 0; t < shape_.tensors.size(); ++t) {
      const StoredTensor& stored = *FindDraftTensor(shape_.tensors[t].name);
      std::vector<float> values(static_cast<size_t>(stored.num_elements()));
      WidenToF32(stored, values);
      std::copy(values.begin(), values.end(), parameters.values(t).begin());
    }
    return parameters;
  }

  // Of this golden's own shape; of another, random ones.
  Parameters<float> MakeOrRandom(const DraftShape& shape) const {
    if (&shape == &shape_) return MakeParameters<float>();
    Parameters<float> parameters(shape);
    Randomise(5, parameters);
    return parameters;
  }

  const StoredTensor& head() const { return *Stored(RowsOf::kLogits); }

  template <class T>
  typename BatchGradient<T>::Embed Embed() const {
    const StoredTensor* table = nullptr;
    for (const auto& [name, tensor] : checkpoint_.tensors()) {
      if (name.ends_with("model.embed_tokens.weight") ||
          name.ends_with("language_model.embed_tokens.weight")) {
        table = &tensor;
      }
    }
    return [table](std::span<const TokenId> ids) {
      Matrix<T> rows(static_cast<int64_t>(ids.size()), table->shape.back());
      std::vector<float> row(static_cast<size_t>(table->shape.back()));
      for (size_t i = 0; i < ids.size(); ++i) {
        WidenRow(*table, ids[i], row);
        std::copy(row.begin(), row.end(), rows.Row(static_cast<int64_t>(i)));
      }
      return rows;
    };
  }

  Objective ObjectiveOf(const nlohmann::json& json) const {
    Objective objective;
    objective.step_weights = DecayingStepWeights(json["K"].get<int>());
    objective.labels = json["labels"] == "soft" ? Labels::kSoft : Labels::kHard;
    objective.use_mask = json.value("use_mask", false);
    if (json.contains("subset") && json["subset"].is_string()) {
      for (const int64_t id : ReadNpy(File(json["subset"].get<std::string>())).i64) {
        objective.vocabulary.push_back(static_cast<TokenId>(id));
      }
    }
    return objective;
  }
  static ChainOn ChainOf(const nlohmann::json& json) {
    return json["chain"] == "u" ? ChainOn::kPreNorm : ChainOn::kNormed;
  }

  // The snapshot without a tokenizer, which training does not need.
  Snapshot MakeBareSnapshot() const {
    Snapshot snapshot = {
        .dir = dir_,
        .architecture = FamilyRegistry::BuiltIn().Read(dir_),
        .reading = {},
        .quantization = {},
        .tokenizer = Tokenizer::Load(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json")),
        .checkpoint = Checkpoint::Open(dir_),
        .warnings = {}};
    snapshot.architecture->Settle(snapshot.checkpoint);
    return snapshot;
  }

  // Values of an array in double, whatever it is stored as.
  std::vector<double> Values(const std::string& array) const { return Wide(golden_.Array(array)); }

 private:
  std::string File(const std::string& name) const {
    return SourcePath(golden_.folder + "/" + name);
  }
  const StoredTensor* FindDraftTensor(const std::string& name) const {
    if (const StoredTensor* found = checkpoint_.Find(name)) return found;
    throw std::runtime_error("no tensor " + name);
  }
  const StoredTensor* Stored(RowsOf rows) const {
    const ModuleTable table = architecture_->Modules();
    for (const Module& module : table.modules()) {
      if (module.is_linear() && module.rows_of == rows) {
        return FindTensor(checkpoint_, module.weights.front());
      }
    }
    throw std::runtime_error("no such module");
  }

  // Families keep them rounded to float; the reference computed with the decimal numbers.
  void SetEpsilons() {
    nlohmann::json config = nlohmann::json::parse(ReadFile(dir_ + "/config.json"));
    if (config.contains("text_config")) config = config["text_config"];
    shape_.norm_eps = config["rms_norm_eps"].get<double>();
    if (shape_.chain && shape_.chain->attention.latent) {
      shape_.chain->attention.latent->eps = json()["latent_norm_eps"].get<double>();
    }
  }

  DraftShape HeadsShape() const {
    return ResidualHeadsShape(3, 44, 28, golden_.json["rms_norm_eps"].get<double>(),
                              Activation::kSilu);
  }

  // The snapshot itself or, where heads come in a file of their own, one made of both.
  std::string MakeSnapshot() {
    namespace fs = std::filesystem;
    const auto source =
        fs::weakly_canonical(File(golden_.json["snapshot"].get<std::string>())).string();
    const std::string in_tests = SourcePath(
        "tests/golden/" +
        (source.find("minillm") == std::string::npos ? "snapshots/" : std::string("minillm/")) +
        fs::path(source).filename().string());
    if (!golden_.json.contains("heads")) return in_tests;
    fs::copy(in_tests + "/model.safetensors", made_ / "model-1.safetensors");
    fs::copy(File("heads.safetensors"), made_ / "model-2.safetensors");
    nlohmann::json config = nlohmann::json::parse(ReadFile(in_tests + "/config.json"));
    config["rms_norm_eps"] = golden_.json["rms_norm_eps"];
    made_.Write("config.json", config.dump());
    nlohmann::json index;
    for (const char* file : {"model-1.safetensors", "model-2.safetensors"}) {
      const Checkpoint part = Checkpoint::OpenFile(made_ / file);
      for (const auto& [name, tensor] : part.tensors()) index["weight_map"][name] = file;
    }
    made_.Write("model.safetensors.index.json", index.dump());
    return made_.path();
  }

  TrainingPage ReadPage(size_t i) const {
    const std::string key = "page" + std::to_string(i) + ".";
    TrainingPage page;
    page.document = golden_.json["pages"][i]["name"].get<std::string>();
    page.prompt = golden_.json["pages"][i]["prompt"].get<int64_t>();
    const auto ids = golden_.Array(key + "ids").i64;
    page.ids.assign(ids.begin(), ids.end());
    const Npy positions = golden_.Array(key + "positions");
    const auto length = static_cast<std::ptrdiff_t>(ids.size());
    for (size_t axis = 0; axis < 3; ++axis) {
      const auto first =
          positions.i64.begin() +
          (positions.shape.size() == 1 ? 0 : static_cast<std::ptrdiff_t>(axis) * length);
      page.positions[axis].assign(first, first + length);
    }
    const Npy hidden = golden_.Array(key + "hidden");
    page.hidden.Resize(hidden.shape[0], hidden.shape[1]);
    page.hidden.values().assign(hidden.f32.begin(), hidden.f32.end());
    const Npy teacher = golden_.Array(key + "teacher_ids");
    page.teacher_width = teacher.shape[1];
    page.teacher_ids.assign(teacher.i64.begin(), teacher.i64.end());
    page.teacher_logits = golden_.Array(key + "teacher_logits").f32;
    page.label_mask = golden_.Array(key + "label_mask").u8;
    return page;
  }

  GoldenCase golden_;
  TempFolder made_;
  std::string dir_;
  std::unique_ptr<Architecture> architecture_;
  Checkpoint checkpoint_;
  DraftShape shape_;
  std::vector<TrainingPage> pages_;
};

}  // namespace platen::testing
