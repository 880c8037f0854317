// A loaded model: snapshot, packed weights and the forward passes over them.
#pragma once

#include <memory>
#include <optional>

#include "model/decoder.h"
#include "model/mtp.h"
#include "model/snapshot.h"
#include "model/vision.h"

namespace platen {

// Immutable after construction; shared by all stages.
class Model {
 public:
  // Widens and packs the weights on the worker pool. Throws Error(kModel) for weights that are not
  // finite and for sizes the kernels cannot serve.
  Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
        Precision precision = Precision::kF32,
        VisionAttention vision_attention = VisionAttention::kF32);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const Snapshot& snapshot() const { return *snapshot_; }
  const ModelConfig& config() const { return snapshot_->config; }
  const Tokenizer& tokenizer() const { return snapshot_->tokenizer; }
  Precision precision() const { return precision_; }
  VisionAttention vision_attention() const { return vision_attention_; }
  const KernelTable& kernels() const { return kernels_; }
  const VisionWeights& vision_weights() const { return vision_weights_; }
  const TextWeights& text_weights() const { return text_weights_; }
  const VisionEncoder& vision() const { return vision_; }
  const Decoder& decoder() const { return decoder_; }
  const MtpLayer* mtp() const { return mtp_ ? &*mtp_ : nullptr; }  // nullptr: plain decoding only

 private:
  std::unique_ptr<const Snapshot> snapshot_;
  const KernelTable& kernels_;
  Precision precision_;
  VisionAttention vision_attention_;
  VisionWeights vision_weights_;
  TextWeights text_weights_;
  VisionEncoder vision_;
  Decoder decoder_;
  std::optional<MtpLayer> mtp_;
};

}  // namespace platen
