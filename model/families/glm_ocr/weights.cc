#include "model/families/glm_ocr/weights.h"

#include <cassert>

namespace platen {
namespace {

// Tensors of one snapshot by name; presence and shapes were checked by LoadSnapshot.
class WeightReader {
 public:
  WeightReader(const Snapshot& snapshot, WeightSource& source)
      : checkpoint_(snapshot.checkpoint), plan_(snapshot.config.quantization), source_(source) {}

  std::vector<float> Vector(const std::string& name) const {
    return source_.GetVector(Tensor(name));
  }
  Table Rows(const std::string& name) const { return source_.GetTable(Tensor(name)); }

  // One layer from the weights, and the biases, of the tensors `parts`, one below the other.
  Linear Product(ProductSpec spec, const std::vector<std::string>& parts, bool bias) const {
    for (const std::string& part : parts) {
      spec.rows.push_back(&Tensor(part + ".weight"));
      if (bias) spec.bias.push_back(&Tensor(part + ".bias"));
    }
    spec.group = plan_.GroupOf(spec.name);
    return source_.GetProduct(spec);
  }
  Linear Packed(const std::string& name) const {
    return Product({.name = name, .rows = {}}, {name}, false);
  }
  Linear PackedWithBias(const std::string& name) const {
    return Product({.name = name, .rows = {}}, {name}, true);
  }

 private:
  const StoredTensor& Tensor(const std::string& name) const {
    const StoredTensor* tensor = checkpoint_.Find(name);
    assert(tensor != nullptr);
    return *tensor;
  }

  const Checkpoint& checkpoint_;
  const QuantizationPlan& plan_;
  WeightSource& source_;
};

VisionBlockWeights LoadBlock(const WeightReader& read, const std::string& prefix) {
  VisionBlockWeights w;
  w.norm1 = read.Vector(prefix + "norm1.weight");
  w.norm2 = read.Vector(prefix + "norm2.weight");
  w.qkv = read.PackedWithBias(prefix + "attn.qkv");
  w.q_norm = read.Vector(prefix + "attn.q_norm.weight");
  w.k_norm = read.Vector(prefix + "attn.k_norm.weight");
  w.proj = read.PackedWithBias(prefix + "attn.proj");
  w.gate_up = read.Product({.name = prefix + "mlp.gate_up", .rows = {}, .silu_mul = true},
                           {prefix + "mlp.gate_proj", prefix + "mlp.up_proj"}, true);
  w.down = read.PackedWithBias(prefix + "mlp.down_proj");
  return w;
}

DecoderLayerWeights LoadLayer(const WeightReader& read, const std::string& prefix) {
  DecoderLayerWeights w;
  w.input_layernorm = read.Vector(prefix + "input_layernorm.weight");
  w.post_self_attn_layernorm = read.Vector(prefix + "post_self_attn_layernorm.weight");
  w.post_attention_layernorm = read.Vector(prefix + "post_attention_layernorm.weight");
  w.post_mlp_layernorm = read.Vector(prefix + "post_mlp_layernorm.weight");
  // q_proj, k_proj and v_proj share their input: one product computes all three.
  const std::string attention = prefix + "self_attn.";
  w.qkv = read.Product({.name = attention + "qkv", .rows = {}},
                       {attention + "q_proj", attention + "k_proj", attention + "v_proj"}, false);
  w.o_proj = read.Packed(attention + "o_proj");
  // gate_up_proj: the first half of the rows is the gate, the second half the up projection.
  const std::string gate_up = prefix + "mlp.gate_up_proj";
  w.gate_up = read.Product({.name = gate_up, .rows = {}, .silu_mul = true}, {gate_up}, false);
  w.down = read.Packed(prefix + "mlp.down_proj");
  return w;
}

MtpWeights LoadMtp(const WeightReader& read, const std::string& prefix) {
  MtpWeights w;
  w.enorm = read.Vector(prefix + "enorm.weight");
  w.hnorm = read.Vector(prefix + "hnorm.weight");
  w.eh_proj = read.Packed(prefix + "eh_proj");
  w.layer = LoadLayer(read, prefix);
  w.shared_head_norm = read.Vector(prefix + "shared_head.norm.weight");
  return w;
}

VisionWeights LoadVision(const VisionConfig& config, const WeightReader& read) {
  const std::string prefix = "model.visual.";
  VisionWeights w;
  w.patch_embed = read.PackedWithBias(prefix + "patch_embed.proj");
  for (int i = 0; i < config.depth; ++i) {
    w.blocks.push_back(LoadBlock(read, prefix + "blocks." + std::to_string(i) + "."));
  }
  w.post_layernorm = read.Vector(prefix + "post_layernorm.weight");
  // The 2x2 convolution [D, C, 2, 2] as a matrix [D, 4C] over four concatenated patch rows:
  // column (2 dy + dx) C + c  <-  weight[d][c][dy][dx].
  const std::string downsample = prefix + "downsample";
  w.downsample = read.Product({.name = downsample, .rows = {}, .places = 4}, {downsample}, true);
  const std::string merger = prefix + "merger.";
  w.merger_proj = read.Packed(merger + "proj");
  w.merger_norm = read.Vector(merger + "post_projection_norm.weight");
  w.merger_norm_bias = read.Vector(merger + "post_projection_norm.bias");
  w.merger_gate_up = read.Product({.name = merger + "gate_up", .rows = {}, .silu_mul = true},
                                  {merger + "gate_proj", merger + "up_proj"}, false);
  w.merger_down = read.Packed(merger + "down_proj");
  return w;
}

std::string LayerPrefix(int layer) {
  return "model.language_model.layers." + std::to_string(layer) + ".";
}

TextWeights LoadText(const TextConfig& config, const WeightReader& read) {
  TextWeights w;
  w.embed_tokens = read.Rows("model.language_model.embed_tokens.weight");
  for (int i = 0; i < config.num_layers; ++i) w.layers.push_back(LoadLayer(read, LayerPrefix(i)));
  w.norm = read.Vector("model.language_model.norm.weight");
  w.lm_head =
      read.Packed(config.tie_word_embeddings ? "model.language_model.embed_tokens" : "lm_head");
  if (config.num_mtp_layers > 0) w.mtp = LoadMtp(read, LayerPrefix(config.num_layers));
  return w;
}

}  // namespace

ModelWeights GatherWeights(const Snapshot& snapshot, WeightSource& source) {
  const WeightReader read(snapshot, source);
  return {LoadVision(snapshot.config.vision, read), LoadText(snapshot.config.text, read)};
}

}  // namespace platen
