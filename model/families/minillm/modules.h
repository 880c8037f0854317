// The modules of the decoder: where their weights live, and the table that describes each once.
//
// Checkpoints name some tensors as MiniLLM does and some as transformers does; each is accepted by
// either name. D = hidden size, H heads.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/glm_input/modules.h"
#include "model/families/minillm/config.h"
#include "model/families/residual_heads.h"
#include "model/ops/linear.h"

namespace platen::minillm {

struct ExpertsWeights {
  Linear router;                       // D -> E, always in f32
  std::vector<float> correction_bias;  // [E]; empty: none
  std::vector<MlpWeights> experts;     // [E]
  std::optional<MlpWeights> shared;
};

// kv_b_proj is kept as two products for each head: a query is multiplied by the transposed key part
// before attention, its result by the value part after it.
struct AttentionWeights {
  Linear input;                // D -> Rq + Rk + Dr, or H (Dn + Dr) + Rk + Dr: queries, latent, key
  std::vector<float> q_norm;   // [Rq]
  Linear q_b;                  // Rq -> H (Dn + Dr); unused without a bottleneck
  std::vector<float> kv_norm;  // [Rk]
  std::vector<Linear> absorb;  // [H], Dn -> Rk
  std::vector<Linear> expand;  // [H], Rk -> Dv
  Linear output;               // H Dv -> D
};

// Of the index that chooses keys; see Indexer.
struct IndexWeights {
  Linear queries;                              // D, or Rq, -> Hi Di
  Linear keys;                                 // D -> Hi Di, or Di
  std::vector<float> key_norm, key_norm_bias;  // [Di], of kLightning
  Linear head_weights;                         // D -> Hi, of kLightning
};

struct LayerWeights {
  std::vector<float> input_norm, post_attention_norm;  // [D]
  AttentionWeights attention;
  std::optional<IndexWeights> index;
  std::optional<MlpWeights> mlp;  // one of the two
  std::optional<ExpertsWeights> experts;
};

// DeepSeek's draft layer: a layer with its own input projection and norms.
struct MtpWeights {
  std::vector<float> enorm, hnorm;  // [D]
  Linear eh_proj;                   // 2D -> D; the embedding half comes first
  LayerWeights layer;
  std::vector<float> head_norm;  // [D]
};

struct Weights {
  Table embed_tokens;  // [vocab, D]
  std::vector<LayerWeights> layers;
  std::vector<float> norm;  // [D]
  Linear lm_head;           // D -> vocab
  Table cosines, sines;     // [positions, Dr], if the checkpoint has them
  std::vector<ResidualHeadWeights> heads;
  std::optional<MtpWeights> mtp;
  glm_input::VisionWeights vision;  // empty: text only
};

// Makes empty weights of the config's sizes and the table whose members they are. `positions`: rows
// of stored rotary tables.
struct BoundModules {
  std::shared_ptr<Weights> weights;
  ModuleTable table;  // owns the weights too
};
BoundModules DescribeModules(const Config& config, int positions);

// What the names of the decoder's tensors begin with: "model.", or "model.language_model." behind
// images.
std::string PrefixOf(const Config& config);

}  // namespace platen::minillm
