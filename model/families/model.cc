#include "model/families/model.h"

#include <utility>

#include "model/families/draft_weights.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {

Model::Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
             Precision precision, const PackingOptions& packing,
             std::optional<VisionAttention> attention, const std::string& draft_weights)
    : snapshot_(std::move(snapshot)),
      kernels_(kernels),
      precision_(precision),
      attention_(attention.value_or(AttentionFor(precision))),
      parts_(snapshot_->architecture->Build(kernels_, attention_)) {
  parts_.modules.SetGroupSizes(snapshot_->quantization);
  loaded_ = LoadWeights({parts_.modules, snapshot_->checkpoint, precision}, packing);
  if (draft_weights.empty()) return;
  LoadDrafts(draft_weights, packing);
}

// Weights trained for another target would only make drafts that are refused.
void Model::LoadDrafts(const std::string& path, const PackingOptions& packing) {
  Checkpoint file = Checkpoint::OpenFile(path);
  const DraftFileFacts facts = FactsOf(file);
  if (!facts.base_model.empty() && facts.base_model != ContentHash()) {
    packing.warn(path + ": was trained for another model; the model's own drafts are used");
    return;
  }
  if (!facts.convention.empty() && facts.convention != "default") {
    packing.warn(path + ": was trained for the convention " + facts.convention +
                 ", which is not how drafts are made; the model's own are used");
    return;
  }
  LoadDraftWeights(file, path, precision_, architecture().text().hidden_size, kernels_, parts_);
  draft_checkpoint_ = std::move(file);
}

std::string Model::ContentHash() const {
  return loaded_.hash.empty() ? WeightsHash(snapshot_->checkpoint) : loaded_.hash;
}

Precision BestPrecision() {
  return FindKernels("avx2") != nullptr ? Precision::kInt8 : Precision::kF32;
}

const VisionModel& RequireVision(const Model& model) {
  if (model.vision() != nullptr) return *model.vision();
  throw Error(ErrorKind::kModel,
              {.file = SnapshotFile(model.snapshot().dir, "config.json"), .field = "model_type"},
              "this model reads text only; images need a model with an image encoder");
}

}  // namespace platen
