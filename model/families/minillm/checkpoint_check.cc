#include "model/families/minillm/checkpoint_check.h"

#include <string_view>

#include "model/families/minillm/modules.h"
#include "model/support/error.h"

namespace platen::minillm {
namespace {

[[noreturn]] void Refuse(const StoredTensor& tensor, const std::string& why) {
  throw Error(ErrorKind::kModel, {.file = tensor.file, .field = tensor.name}, why);
}

bool Contains(const std::string& name, std::string_view part) {
  return name.find(part) != std::string::npos;
}

// Forms of checkpoints that this program does not read, told by their tensors.
void RefuseOtherForms(const StoredTensor& tensor) {
  const std::string& name = tensor.name;
  if (name.ends_with(".base.weight") || name.ends_with(".base_layer.weight") ||
      Contains(name, ".lora_A.") || Contains(name, ".lora_B.")) {
    Refuse(tensor, "belongs to adapters (LoRA); give a checkpoint in which they are merged");
  }
  if (name.ends_with(".weight_scale_inv")) {
    Refuse(tensor, "belongs to weights in FP8; give a checkpoint in bf16, f16 or f32");
  }
  if (name.starts_with("vision_proj.") || name.starts_with("vision_encoder.")) {
    Refuse(tensor, "belongs to MiniLLM's images by CLIP, which this program does not compute");
  }
}

// Tensors that change what a layer computes, where config.json says that there are none.
void RefuseWhatTheConfigLacks(const Config& config, const StoredTensor& tensor) {
  const std::string& name = tensor.name;
  if (!config.attention_bias && Contains(name, ".self_attn.") && name.ends_with("_proj.bias")) {
    Refuse(tensor, "is there, but attention_bias of config.json is false");
  }
  if (config.shared_experts == 0 && Contains(name, ".mlp.shared_expert")) {
    Refuse(tensor, "is there, but n_shared_experts of config.json is 0");
  }
  if (config.router.experts > 0 && !config.router.correction_bias &&
      name.ends_with(".mlp.gate.e_score_correction_bias")) {
    Refuse(tensor, "is there, but the router of this model_type has none");
  }
}

bool IsStacked(const std::string& name) {
  return name.ends_with(".mlp.experts.gate_up_proj") || name.ends_with(".mlp.experts.down_proj");
}

// Which layers have experts is a rule on which programs differ: the checkpoint decides whether this
// one is right.
void CheckRule(const Config& config, const Checkpoint& checkpoint) {
  for (int i = 0; i < config.num_layers; ++i) {
    const StoredTensor* gate =
        checkpoint.Find(PrefixOf(config) + "layers." + std::to_string(i) + ".mlp.gate.weight");
    if (gate == nullptr || config.HasExperts(i)) continue;
    Refuse(*gate,
           "is there, but by first_k_dense_replace and moe_layer_freq of config.json layer " +
               std::to_string(i) + " has no experts");
  }
}

}  // namespace

bool CheckForms(const Config& config, const Checkpoint& checkpoint) {
  const StoredTensor* stacked = nullptr;
  const StoredTensor* single = nullptr;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    RefuseOtherForms(tensor);
    RefuseWhatTheConfigLacks(config, tensor);
    if (IsStacked(name)) {
      stacked = &tensor;
    } else if (Contains(name, ".mlp.experts.")) {
      single = &tensor;
    }
  }
  if (stacked != nullptr && single != nullptr) {
    Refuse(*stacked, "holds all experts of a layer, but " + single->name +
                         " is one of them by itself; store all in one way");
  }
  CheckRule(config, checkpoint);
  return stacked != nullptr;
}

}  // namespace platen::minillm
