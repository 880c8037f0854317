// A plain Llama-style text decoder: the smallest family there can be, and the example of
// docs/ADDING_A_MODEL.md. Nothing outside this folder knows it.
//
//   h = x + o_proj(attention(rotate(qkv(input_layernorm(x)))))
//   y = h + down(silu(gate(n)) * up(n)),  n = post_attention_layernorm(h)
//
// Grouped-query attention, rotary pairs of neighbouring values, no biases, no images, no draft
// layer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/families/architecture.h"
#include "model/families/registry.h"
#include "model/ops/gqa_attention.h"

namespace platen::llama {

// config.json. D = hidden_size, H and Hkv query and KV heads of d.
struct Config {
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int num_layers = 0;
  int num_heads = 0;
  int num_kv_heads = 0;
  int max_positions = 0;
  float rms_norm_eps = 0;
  double rope_theta = 0;
  SpecialTokens tokens;

  int head_dim() const { return hidden_size / num_heads; }
};
// Throws Error(kModel) naming file and field.
Config ReadConfig(const std::string& snapshot_dir);

struct LayerWeights {
  std::vector<float> input_layernorm, post_attention_layernorm;  // [D]
  Linear qkv;                                                    // D -> (H + 2 Hkv) d: q | k | v
  Linear o_proj;                                                 // H d -> D
  Linear gate_up;                                                // D -> intermediate
  Linear down;                                                   // intermediate -> D
};
struct Weights {
  Table embed_tokens;  // [vocab, D]
  std::vector<LayerWeights> layers;
  std::vector<float> norm;  // [D]
  Linear lm_head;           // D -> vocab
};
struct BoundModules {
  std::shared_ptr<Weights> weights;
  ModuleTable table;  // owns the weights too
};
BoundModules DescribeModules(const Config& config);

class Decoder final : public TextModel {
 public:
  Decoder(const Config& config, const Weights& weights, const KernelTable& kernels);

  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Embed(std::span<const TokenId> ids, MatView x) const override;
  void Forward(const RowBatch& batch, KvPool& pool, MatView x, Workspace& workspace,
               const Observer& observer) const override;
  void Logits(ConstMatView hidden, MatView logits, Workspace& workspace) const override;

 private:
  struct Buffers : Workspace {
    GqaWorkspace attention;
    Mat branch;  // [R, D]
  };
  void Layer(const LayerWeights& w, int plane, const RowBatch& batch, KvPool& pool, MatView x,
             Buffers& buffers) const;

  const Config config_;
  const Weights& weights_;
  const KernelTable& kernels_;
  GqaAttention attention_;
  std::vector<float> inverse_frequencies_;  // [d / 2]
};

class Llama final : public Architecture {
 public:
  explicit Llama(Config config);

  const Config& config() const { return config_; }

  const TextSizes& text() const override { return text_; }
  const VisionSizes* vision() const override { return nullptr; }
  const SpecialTokens& tokens() const override { return config_.tokens; }
  std::string_view image_placeholder() const override { return {}; }
  std::string Settle(const Checkpoint&) override { return {}; }
  ModuleTable Modules() const override { return DescribeModules(config_).table; }
  std::vector<Error> CheckTokens(const Tokenizer&) const override { return {}; }
  PromptInput BuildPrompt(const Tokenizer& tokenizer, std::span<const PatchGrid> grids,
                          const std::string& text) const override;
  ModelParts Build(const KernelTable& kernels, VisionAttention attention) const override;
  std::vector<FactSection> Facts() const override;
  std::vector<std::pair<std::string, std::string>> TokenFacts() const override { return {}; }
  nlohmann::ordered_json ConfigJson() const override;

 private:
  Config config_;
  TextSizes text_;
};

// The families of the program and this one.
const FamilyRegistry& Families();

}  // namespace platen::llama
