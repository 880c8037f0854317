// A loaded model: snapshot, packed weights and the forward passes over them.
#pragma once

#include <memory>
#include <optional>

#include "model/checkpoint/packed_weights.h"
#include "model/families/glm_ocr/decoder.h"
#include "model/families/glm_ocr/mtp.h"
#include "model/families/glm_ocr/vision.h"
#include "model/families/snapshot.h"

namespace platen {

// Immutable after construction; shared by all stages.
class Model {
 public:
  // Maps packed weights or packs them on the worker pool, as `packing` says. Throws Error(kModel)
  // for weights that are not finite and for sizes the kernels cannot serve.
  Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
        Precision precision = Precision::kF32, const PackingOptions& packing = {},
        VisionAttention vision_attention = VisionAttention::kF32);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Snapshot& snapshot() const { return *snapshot_; }
  const ModelConfig& config() const { return snapshot_->config; }
  const Tokenizer& tokenizer() const { return snapshot_->tokenizer; }
  Precision precision() const { return precision_; }
  VisionAttention vision_attention() const { return vision_attention_; }
  const KernelTable& kernels() const { return kernels_; }
  const VisionWeights& vision_weights() const { return loaded_.weights.vision; }
  const TextWeights& text_weights() const { return loaded_.weights.text; }
  const VisionEncoder& vision() const { return vision_; }
  const Decoder& decoder() const { return decoder_; }
  // The file the weights are mapped from; empty: they were packed into memory.
  const std::string& packed_path() const { return loaded_.packed_path; }
  // WeightsHash of the snapshot: known from the packed file, else computed, which reads all
  // weights.
  std::string ContentHash() const;
  const MtpLayer* mtp() const { return mtp_ ? &*mtp_ : nullptr; }  // nullptr: plain decoding only

 private:
  std::unique_ptr<const Snapshot> snapshot_;
  const KernelTable& kernels_;
  Precision precision_;
  VisionAttention vision_attention_;
  LoadedWeights loaded_;
  VisionEncoder vision_;
  Decoder decoder_;
  std::optional<MtpLayer> mtp_;
};

}  // namespace platen
