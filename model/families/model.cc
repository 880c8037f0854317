#include "model/families/model.h"

#include <utility>

#include "model/checkpoint/weight_source.h"
#include "model/families/draft_weights.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

namespace platen {

Model::Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
             Precision precision, const PackingOptions& packing,
             std::optional<VisionAttention> attention, const DraftWeightsFile& draft_weights)
    : snapshot_(std::move(snapshot)),
      kernels_(kernels),
      precision_(precision),
      attention_(attention.value_or(AttentionFor(precision))) {
  BuildParts();
  if (draft_weights.path.empty()) {
    Load(packing);
    return;
  }
  try {
    PlaceDraftHead(draft_weights, packing);
    Load(packing);
    LoadOwnDrafts();
  } catch (const Error& e) {
    const bool of_draft_head = e.location().file == draft_weights.path;
    if (!draft_weights.installed || !of_draft_head) throw;
    packing.warn(std::string(e.what()) + "; the model's own drafts are used");
    draft_head_.reset();
    BuildParts();
    Load(packing);
  }
}

void Model::BuildParts() {
  parts_ = snapshot_->architecture->Build(kernels_, attention_);
  parts_.modules.SetGroupSizes(snapshot_->quantization);
}

void Model::PlaceDraftHead(const DraftWeightsFile& file, const PackingOptions& packing) {
  loaded_.hash = KnownWeightsHash(snapshot_->checkpoint, packing.paths);
  if (loaded_.hash.empty()) loaded_.hash = WeightsHash(snapshot_->checkpoint);
  std::string why;
  std::optional<Checkpoint> opened = OpenDraftWeights(file.path, loaded_.hash, why);
  if (!opened) {
    packing.warn(file.path + ": " + why + "; the model's own drafts are used");
    return;
  }
  PlaceDraftWeights(*opened, file.path, architecture().text().hidden_size, kernels_, parts_);
  draft_head_ = {file.path, file.installed, false, FactsOf(*opened)};
  draft_checkpoint_ = *std::move(opened);
}

void Model::Load(const PackingOptions& packing) {
  PackedSubject subject = {parts_.modules, snapshot_->checkpoint, precision_, {}};
  if (draft_head_) {
    subject.draft_head = {&draft_checkpoint_, draft_head_->path, draft_head_->facts.base_model};
  }
  std::string hash = std::move(loaded_.hash);
  loaded_ = LoadWeights(subject, packing);
  if (loaded_.hash.empty()) loaded_.hash = std::move(hash);
  if (draft_head_) draft_head_->packed = loaded_.draft_head_packed;
}

// What a run goes back to if the file's drafts turn out worse.
void Model::LoadOwnDrafts() {
  if (!draft_head_ || draft_head_->facts.own_acceptance.empty()) return;
  own_drafts_ = std::make_unique<ModelParts>(snapshot_->architecture->Build(kernels_, attention_));
  own_drafts_->modules.SetGroupSizes(snapshot_->quantization);
  ModuleTable own;
  for (const Module& module : own_drafts_->modules.modules()) {
    if (module.rows_of == RowsOf::kDraft) own.Add(module);
  }
  CheckpointSource source(precision_);
  LoadModules(own, snapshot_->checkpoint, source);
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
