// A loaded model: snapshot, packed weights and the forward passes over them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "model/checkpoint/packed_weights.h"
#include "model/families/snapshot.h"

namespace platen {

// Immutable after construction; shared by all stages.
class Model {
 public:
  // Maps packed weights or packs them on the worker pool, as `packing` says. `draft_weights`: a
  // file whose draft layer or heads take the place of the snapshot's (draft_weights.h); empty:
  // none. One that was trained for another model is not used, and packing.warn is told.
  // Without `attention`: AttentionFor(precision). Throws Error(kModel) for weights that are not
  // finite and for sizes the kernels cannot serve.
  Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
        Precision precision = Precision::kF32, const PackingOptions& packing = {},
        std::optional<VisionAttention> attention = {}, const std::string& draft_weights = {});
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
  // Whether it has something of its own to draft with.
  bool drafts() const { return draft() != nullptr || draft_heads() != nullptr; }
  // The file the weights are mapped from; empty: they were packed into memory.
  const std::string& packed_path() const { return loaded_.packed_path; }
  // WeightsHash of the snapshot: known from the packed file, else computed, which reads all
  // weights.
  std::string ContentHash() const;

 private:
  void LoadDrafts(const std::string& path, const PackingOptions& packing);

  std::unique_ptr<const Snapshot> snapshot_;
  const KernelTable kernels_;
  Precision precision_;
  VisionAttention attention_;
  ModelParts parts_;
  LoadedWeights loaded_;
  Checkpoint draft_checkpoint_;  // without files: the draft layer is the snapshot's
};

// What is fastest at no loss that a reader would notice: int8 where the CPU has AVX2, else f32.
Precision BestPrecision();

// The encoder of a model that must read images. Throws Error(kModel) if it reads text only.
const VisionModel& RequireVision(const Model& model);

}  // namespace platen
