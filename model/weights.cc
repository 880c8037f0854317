#include "model/weights.h"

#include <algorithm>
#include <cassert>

namespace platen {
namespace {

// Reads tensors of one snapshot; presence and shapes were checked by LoadSnapshot.
class WeightReader {
 public:
  WeightReader(const Snapshot& snapshot, Precision precision)
      : checkpoint_(snapshot.checkpoint),
        plan_(snapshot.config.quantization),
        precision_(precision) {}

  // How the weights of a product are stored (ProductNames).
  WeightFormat Format(const std::string& product) const {
    return {precision_, plan_.GroupOf(product)};
  }

  // A tensor as a matrix: the first dimension are the rows, the others are flattened.
  Mat Matrix(const std::string& name) const {
    const StoredTensor& tensor = Tensor(name);
    const int64_t rows = tensor.shape[0];
    Mat m(rows, tensor.num_elements() / rows);
    WidenToF32(tensor, m.span());
    return m;
  }

  std::vector<float> Vector(const std::string& name) const {
    const StoredTensor& tensor = Tensor(name);
    std::vector<float> v(static_cast<size_t>(tensor.num_elements()));
    WidenToF32(tensor, v);
    return v;
  }

  Linear Packed(const std::string& name) const {
    return Linear::Pack(Format(name), Matrix(name + ".weight").View(), {});
  }
  Linear PackedWithBias(const std::string& name) const {
    return Linear::Pack(Format(name), Matrix(name + ".weight").View(), Vector(name + ".bias"));
  }

 private:
  const StoredTensor& Tensor(const std::string& name) const {
    const StoredTensor* tensor = checkpoint_.Find(name);
    assert(tensor != nullptr);
    return *tensor;
  }

  const Checkpoint& checkpoint_;
  const QuantizationPlan& plan_;
  Precision precision_;
};

VisionBlockWeights LoadBlock(const WeightReader& read, const std::string& prefix) {
  VisionBlockWeights w;
  w.norm1 = read.Vector(prefix + "norm1.weight");
  w.norm2 = read.Vector(prefix + "norm2.weight");
  w.qkv = read.PackedWithBias(prefix + "attn.qkv");
  w.q_norm = read.Vector(prefix + "attn.q_norm.weight");
  w.k_norm = read.Vector(prefix + "attn.k_norm.weight");
  w.proj = read.PackedWithBias(prefix + "attn.proj");
  w.gate_up = Linear::PackSiluMul(
      read.Format(prefix + "mlp.gate_up"), read.Matrix(prefix + "mlp.gate_proj.weight").View(),
      read.Vector(prefix + "mlp.gate_proj.bias"), read.Matrix(prefix + "mlp.up_proj.weight").View(),
      read.Vector(prefix + "mlp.up_proj.bias"));
  w.down = read.PackedWithBias(prefix + "mlp.down_proj");
  return w;
}

// The 2x2 convolution [D, C, 2, 2] as a matrix [D, 4C] over four concatenated patch rows:
// column (2 dy + dx) C + c  <-  weight[d][c][dy][dx].
Linear PackDownsample(WeightFormat format, const Mat& conv, std::span<const float> bias) {
  const int64_t channels = conv.cols() / 4;
  Mat w(conv.rows(), conv.cols());
  for (int64_t d = 0; d < conv.rows(); ++d) {
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t place = 0; place < 4; ++place) {
        w.View().Row(d)[place * channels + c] = conv.View().Row(d)[c * 4 + place];
      }
    }
  }
  return Linear::Pack(format, w.View(), bias);
}

// q_proj, k_proj and v_proj share their input: one product computes all three.
Linear PackQkv(const WeightReader& read, const std::string& prefix) {
  const Mat parts[] = {read.Matrix(prefix + "q_proj.weight"), read.Matrix(prefix + "k_proj.weight"),
                       read.Matrix(prefix + "v_proj.weight")};
  Mat all(parts[0].rows() + parts[1].rows() + parts[2].rows(), parts[0].cols());
  float* out = all.data();
  for (const Mat& part : parts) out = std::copy(part.span().begin(), part.span().end(), out);
  return Linear::Pack(read.Format(prefix + "qkv"), all.View(), {});
}

DecoderLayerWeights LoadLayer(const WeightReader& read, const std::string& prefix) {
  DecoderLayerWeights w;
  w.input_layernorm = read.Vector(prefix + "input_layernorm.weight");
  w.post_self_attn_layernorm = read.Vector(prefix + "post_self_attn_layernorm.weight");
  w.post_attention_layernorm = read.Vector(prefix + "post_attention_layernorm.weight");
  w.post_mlp_layernorm = read.Vector(prefix + "post_mlp_layernorm.weight");
  w.qkv = PackQkv(read, prefix + "self_attn.");
  w.o_proj = read.Packed(prefix + "self_attn.o_proj");
  // gate_up_proj: the first half of the rows is the gate, the second half the up projection.
  const Mat gate_up = read.Matrix(prefix + "mlp.gate_up_proj.weight");
  const int64_t half = gate_up.rows() / 2;
  w.gate_up =
      Linear::PackSiluMul(read.Format(prefix + "mlp.gate_up_proj"), gate_up.View().Rows(0, half),
                          {}, gate_up.View().Rows(half, half), {});
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

std::string LayerPrefix(int layer) {
  return "model.language_model.layers." + std::to_string(layer) + ".";
}

}  // namespace

VisionWeights LoadVisionWeights(const Snapshot& snapshot, Precision precision) {
  const WeightReader read(snapshot, precision);
  const std::string prefix = "model.visual.";
  VisionWeights w;
  w.patch_embed = read.PackedWithBias(prefix + "patch_embed.proj");
  for (int i = 0; i < snapshot.config.vision.depth; ++i) {
    w.blocks.push_back(LoadBlock(read, prefix + "blocks." + std::to_string(i) + "."));
  }
  w.post_layernorm = read.Vector(prefix + "post_layernorm.weight");
  w.downsample = PackDownsample(read.Format(prefix + "downsample"),
                                read.Matrix(prefix + "downsample.weight"),
                                read.Vector(prefix + "downsample.bias"));
  w.merger_proj = read.Packed(prefix + "merger.proj");
  w.merger_norm = read.Vector(prefix + "merger.post_projection_norm.weight");
  w.merger_norm_bias = read.Vector(prefix + "merger.post_projection_norm.bias");
  w.merger_gate_up =
      Linear::PackSiluMul(read.Format(prefix + "merger.gate_up"),
                          read.Matrix(prefix + "merger.gate_proj.weight").View(), {},
                          read.Matrix(prefix + "merger.up_proj.weight").View(), {});
  w.merger_down = read.Packed(prefix + "merger.down_proj");
  return w;
}

TextWeights LoadTextWeights(const Snapshot& snapshot, Precision precision) {
  const WeightReader read(snapshot, precision);
  const TextConfig& config = snapshot.config.text;
  TextWeights w;
  const std::string embedding = "model.language_model.embed_tokens.weight";
  w.embed_tokens = snapshot.checkpoint.Find(embedding);
  CheckFinite(*w.embed_tokens);
  for (int i = 0; i < config.num_layers; ++i) w.layers.push_back(LoadLayer(read, LayerPrefix(i)));
  w.norm = read.Vector("model.language_model.norm.weight");
  w.lm_head =
      read.Packed(config.tie_word_embeddings ? "model.language_model.embed_tokens" : "lm_head");
  if (config.num_mtp_layers > 0) w.mtp = LoadMtp(read, LayerPrefix(config.num_layers));
  return w;
}

}  // namespace platen
