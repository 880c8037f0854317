// The modules of GLM-OCR: where their weights live, and the table that describes each once.
//
// Names follow the checkpoint. D = text hidden size.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/glm_input/modules.h"
#include "model/families/glm_ocr/config.h"
#include "model/ops/linear.h"

namespace platen::glm_ocr {

// model.language_model.layers.N
struct DecoderLayerWeights {
  std::vector<float> input_layernorm, post_self_attn_layernorm;     // [D]
  std::vector<float> post_attention_layernorm, post_mlp_layernorm;  // [D]
  Linear qkv;      // D -> (H + 2 Hkv) head_dim: q | k | v
  Linear o_proj;   // H head_dim -> D
  Linear gate_up;  // D -> intermediate, silu(gate) * up
  Linear down;     // intermediate -> D
};

// The draft layer: a decoder layer with its own input projection and norms.
struct MtpWeights {
  std::vector<float> enorm, hnorm;  // [D]
  Linear eh_proj;                   // 2D -> D; the embedding half comes first
  DecoderLayerWeights layer;
  std::vector<float> shared_head_norm;  // [D]
};

struct TextWeights {
  Table embed_tokens;  // [vocab, D]
  std::vector<DecoderLayerWeights> layers;
  std::vector<float> norm;        // [D]
  Linear lm_head;                 // D -> vocab
  std::optional<MtpWeights> mtp;  // absent when the config has no MTP layer
};

struct Weights {
  glm_input::VisionWeights vision;
  TextWeights text;
};

// Makes empty weights of the config's sizes and the table whose members they are.
struct BoundModules {
  std::shared_ptr<Weights> weights;
  ModuleTable table;  // owns the weights too
};
BoundModules DescribeModules(const Config& config);

}  // namespace platen::glm_ocr
