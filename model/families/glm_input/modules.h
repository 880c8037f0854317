// The modules of the image encoder: where their weights live, and the table that describes each
// once.
//
// Names follow the checkpoint. C = vision hidden size, D = text hidden size.
#pragma once

#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/glm_input/config.h"
#include "model/ops/linear.h"

namespace platen::glm_input {

// model.visual.blocks.N
struct VisionBlockWeights {
  std::vector<float> norm1, norm2;    // [C]
  Linear qkv;                         // C -> 3C: q | k | v, each H heads x head_dim
  std::vector<float> q_norm, k_norm;  // [head_dim]
  Linear proj;                        // C -> C
  Linear gate_up;                     // C -> intermediate, silu(gate) * up
  Linear down;                        // intermediate -> C
};

// model.visual
struct VisionWeights {
  Linear patch_embed;  // patch_values -> C
  std::vector<VisionBlockWeights> blocks;
  std::vector<float> post_layernorm;  // [C]
  Linear downsample;                  // 4C -> D: four patches of a block, (dy, dx) then channel
  Linear merger_proj;                 // D -> D
  std::vector<float> merger_norm, merger_norm_bias;  // [D]
  Linear merger_gate_up;                             // D -> 3D, silu(gate) * up
  Linear merger_down;                                // 3D -> D
};

// Adds the encoder's modules; their members are those of `weights`.
void DescribeVision(const VisionConfig& config, VisionWeights& weights, ModuleTable& table);

}  // namespace platen::glm_input
