#include "model/model.h"

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
             Precision precision, VisionAttention vision_attention)
    : snapshot_((CheckKernelLimits(*snapshot), std::move(snapshot))),
      kernels_(kernels),
      precision_(precision),
      vision_attention_(vision_attention),
      vision_weights_(LoadVisionWeights(*snapshot_, precision)),
      text_weights_(LoadTextWeights(*snapshot_, precision)),
      vision_(config(), vision_weights_, kernels_, vision_attention),
      decoder_(config().text, text_weights_, kernels_) {
  if (text_weights_.mtp) {
    mtp_.emplace(config().text, *text_weights_.mtp, decoder_.layer_op(), kernels_);
  }
}

}  // namespace platen
