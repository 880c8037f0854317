#include "model/families/model.h"

#include <string>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

// The attention kernels keep a head's vector and a group's queries in fixed buffers.
void CheckKernelLimits(const Snapshot& snapshot) {
  const auto check = [&](const char* field, int value, int limit) {
    if (value <= limit) return;
    throw Error(
        ErrorKind::kModel, {.file = snapshot.dir + "/config.json", .field = field},
        "is " + std::to_string(value) + "; this program handles at most " + std::to_string(limit));
  };
  const TextConfig& text = snapshot.config.text;
  check("text_config.head_dim", text.head_dim, kMaxHeadDim);
  check("vision_config.hidden_size / num_heads", snapshot.config.vision.head_dim(), kMaxHeadDim);
  check("text_config.num_attention_heads / num_key_value_heads", text.num_heads / text.num_kv_heads,
        kMaxQueryGroup);
}

}  // namespace

Model::Model(std::unique_ptr<const Snapshot> snapshot, const KernelTable& kernels,
             Precision precision, const PackingOptions& packing, VisionAttention vision_attention)
    : snapshot_((CheckKernelLimits(*snapshot), std::move(snapshot))),
      kernels_(kernels),
      precision_(precision),
      vision_attention_(vision_attention),
      loaded_(LoadWeights(*snapshot_, precision, packing)),
      vision_(config(), loaded_.weights.vision, kernels_, vision_attention),
      decoder_(config().text, loaded_.weights.text, kernels_) {
  const TextWeights& text = loaded_.weights.text;
  if (text.mtp) mtp_.emplace(config().text, *text.mtp, decoder_.layer_op(), kernels_);
}

std::string Model::ContentHash() const {
  return loaded_.hash.empty() ? WeightsHash(snapshot_->checkpoint) : loaded_.hash;
}

}  // namespace platen
