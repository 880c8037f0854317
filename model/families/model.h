// A loaded model: snapshot, packed weights and the forward passes over them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/checkpoint/packed_weights.h"
#include "model/families/draft_weights.h"
#include "model/families/snapshot.h"

namespace platen {

// The file of draft weights that a model runs with.
struct UsedDraftHead {
  std::string path;
  bool installed = false;  // else asked for by name
  bool packed = false;     // read from the file of packed weights
  DraftFileFacts facts;
};

// Immutable after construction; shared by all stages.
class Model {
 public:
  // Maps packed weights or packs them on the worker pool, as `packing` says. `draft_weights`: a
  // file whose draft layer or heads take the place of the snapshot's (draft_weights.h). One that
  // was trained for another model is not used, and packing.warn is told.
  // Without `attention`: AttentionFor(precision). Throws Error(kModel) for weights that are not
  // finite and for sizes the kernels cannot serve.
  Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
        Precision precision = Precision::kF32, const PackingOptions& packing = {},
        std::optional<VisionAttention> attention = {}, const DraftWeightsFile& draft_weights = {});
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Snapshot& snapshot() const { return *snapshot_; }
  const Architecture& architecture() const { return *snapshot_->architecture; }
  const Tokenizer& tokenizer() const { return snapshot_->tokenizer; }
  Precision precision() const { return precision_; }
  VisionAttention attention() const { return attention_; }  // of the image encoder
  const KernelTable& kernels() const { return kernels_; }
  // Every module with its loaded weights.
  const ModuleTable& modules() const { return parts_.modules; }
  const TextModel& text() const { return *parts_.text; }
  const VisionModel* vision() const { return parts_.vision.get(); }     // nullptr: text only
  const DraftModel* draft() const { return parts_.draft.get(); }        // nullptr: no draft layer
  const DraftHeads* draft_heads() const { return parts_.heads.get(); }  // nullptr: none
  // Whether it has something to draft with, of its own or of a file.
  bool drafts() const { return draft() != nullptr || draft_heads() != nullptr; }
  // The file it drafts with; nothing: the snapshot's own drafts.
  const std::optional<UsedDraftHead>& draft_head() const { return draft_head_; }
  // The snapshot's own drafts where a file took their place and says how often those are right; may
  // have neither layer nor heads. Else nullptr.
  const ModelParts* own_drafts() const { return own_drafts_.get(); }
  // The file the weights are mapped from; empty: they were packed into memory.
  const std::string& packed_path() const { return loaded_.packed_path; }
  // WeightsHash of the snapshot: known from the packed file, else computed, which reads all
  // weights.
  std::string ContentHash() const;

 private:
  void BuildParts();
  void PlaceDraftHead(const DraftWeightsFile& file, const PackingOptions& packing);
  void Load(const PackingOptions& packing);
  void LoadOwnDrafts();

  std::unique_ptr<const Snapshot> snapshot_;
  const KernelTable kernels_;
  Precision precision_;
  VisionAttention attention_;
  ModelParts parts_;
  LoadedWeights loaded_;
  Checkpoint draft_checkpoint_;  // without files: the draft layer is the snapshot's
  std::optional<UsedDraftHead> draft_head_;
  std::unique_ptr<ModelParts> own_drafts_;
};

// What is fastest at no loss that a reader would notice: int8 where the CPU has AVX2, else f32.
Precision BestPrecision();

// The encoder of a model that must read images. Throws Error(kModel) if it reads text only.
const VisionModel& RequireVision(const Model& model);

}  // namespace platen
