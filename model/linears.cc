#include "model/linears.h"

#include "model/model.h"

namespace platen {
namespace {

class Lister {
 public:
  std::vector<NamedLinear> Take() { return std::move(linears_); }

  void Add(const std::string& prefix, const std::vector<std::string>& names, const Linear& linear) {
    NamedLinear entry;
    for (const std::string& name : names) entry.tensors.push_back(prefix + name);
    entry.linear = &linear;
    linears_.push_back(std::move(entry));
  }

  void AddVision(const VisionWeights& w) {
    const std::string prefix = "model.visual.";
    Add(prefix, {"patch_embed.proj"}, w.patch_embed);
    for (size_t i = 0; i < w.blocks.size(); ++i) {
      const std::string block = prefix + "blocks." + std::to_string(i) + ".";
      Add(block, {"attn.qkv"}, w.blocks[i].qkv);
      Add(block, {"attn.proj"}, w.blocks[i].proj);
      Add(block, {"mlp.gate_proj", "mlp.up_proj"}, w.blocks[i].gate_up);
      Add(block, {"mlp.down_proj"}, w.blocks[i].down);
    }
    Add(prefix, {"downsample"}, w.downsample);
    Add(prefix, {"merger.proj"}, w.merger_proj);
    Add(prefix, {"merger.gate_proj", "merger.up_proj"}, w.merger_gate_up);
    Add(prefix, {"merger.down_proj"}, w.merger_down);
  }

  void AddLayer(const std::string& prefix, const DecoderLayerWeights& w) {
    Add(prefix, {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"}, w.qkv);
    Add(prefix, {"self_attn.o_proj"}, w.o_proj);
    Add(prefix, {"mlp.gate_up_proj"}, w.gate_up);
    Add(prefix, {"mlp.down_proj"}, w.down);
  }

  void AddText(const TextConfig& config, const TextWeights& w) {
    const auto layer = [](size_t i) {
      return "model.language_model.layers." + std::to_string(i) + ".";
    };
    for (size_t i = 0; i < w.layers.size(); ++i) AddLayer(layer(i), w.layers[i]);
    Add("", {config.tie_word_embeddings ? "model.language_model.embed_tokens" : "lm_head"},
        w.lm_head);
    if (!w.mtp) return;
    Add(layer(w.layers.size()), {"eh_proj"}, w.mtp->eh_proj);
    AddLayer(layer(w.layers.size()), w.mtp->layer);
  }

 private:
  std::vector<NamedLinear> linears_;
};

}  // namespace

std::vector<NamedLinear> ListLinears(const Model& model) {
  Lister lister;
  lister.AddVision(model.vision_weights());
  lister.AddText(model.config().text, model.text_weights());
  return lister.Take();
}

int64_t PackedWeightBytes(const Model& model) {
  int64_t bytes = 0;
  for (const NamedLinear& entry : ListLinears(model)) {
    bytes += static_cast<int64_t>(entry.linear->bytes());
  }
  return bytes;
}

}  // namespace platen
