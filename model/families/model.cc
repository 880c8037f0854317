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
  draft_checkpoint_ = LoadDraftWeights(draft_weights, precision, parts_.modules);
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
