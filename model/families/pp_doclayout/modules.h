// The modules of PP-DocLayoutV3: where their weights live, and the table that describes each once.
//
// Names follow the published files, which keep those of RT-DETR; the newer names of transformers
// are aliases. C = encoder width, D = decoder width.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/pp_doclayout/config.h"
#include "model/families/pp_doclayout/conv_unit.h"
#include "model/ops/linear.h"

namespace platen::pp_doclayout {

struct LayerNormWeights {
  std::vector<float> weight, bias;
};

// model.backbone.model.embedder
struct StemWeights {
  ConvUnit stem1, stem2a, stem2b, stem3, stem4;
};

// A layer of a block: one convolution, or, light, a 1x1 and a depthwise one.
struct BackboneLayer {
  bool light = false;
  ConvUnit conv;  // the only one, or the 1x1
  DepthwiseUnit depthwise;
};

struct BackboneBlock {
  std::vector<BackboneLayer> layers;
  ConvUnit squeeze, expand;  // aggregation.0 and .1
};

struct BackboneStage {
  DepthwiseUnit downsample;  // not of the first stage
  std::vector<BackboneBlock> blocks;
};

// Attention among rows, positions added to queries and keys.
struct AttentionWeights {
  Linear qk, v, out;
};

// model.encoder.encoder.0.layers.N
struct AifiLayer {
  AttentionWeights attention;
  LayerNormWeights attention_norm, final_norm;
  Linear fc1, fc2;
};

struct CspBlock {
  ConvUnit conv1, conv2;
  std::array<RepUnit, kBottlenecks> bottlenecks;
  std::vector<ConvUnit> conv3;  // one where the block is narrower inside, else none
};

// model.encoder
struct EncoderWeights {
  std::array<ConvUnit, kLevels> input_proj;  // of stages 2 .. 4
  std::vector<AifiLayer> aifi;
  std::array<ConvUnit, kLevels - 1> lateral, downsample;
  std::array<CspBlock, kLevels - 1> fpn, pan;
  // Of stride 8: one; 16: one; 32: two, the map doubled after each but at stride 8.
  std::array<std::vector<ConvUnit>, kLevels> mask_scale;
  ConvUnit mask_sum, mask_lateral, mask_base;
  Linear mask_output;
};

// model.decoder.layers.N
struct DecoderLayer {
  AttentionWeights self_attention;
  LayerNormWeights self_norm, cross_norm, final_norm;
  Linear sampling;  // offsets | weights
  Linear value, output;
  Linear fc1, fc2;
  Linear order;  // model.decoder_order_head.N
};

// Linear layers with ReLU between them.
using Mlp = std::vector<Linear>;

struct DecoderWeights {
  std::array<ConvUnit, kLevels> input_proj;
  Linear enc_output;
  LayerNormWeights enc_output_norm;
  Linear enc_score;
  Mlp mask_query;
  Mlp query_pos, box;
  Linear score;
  LayerNormWeights norm;
  std::vector<DecoderLayer> layers;
  Linear pointer;
};

struct Weights {
  StemWeights stem;
  std::array<BackboneStage, kStages> stages;
  EncoderWeights encoder;
  DecoderWeights decoder;

  // What must be folded once the stored members are loaded. The pointers are to members.
  std::vector<ConvUnit*> convs;
  std::vector<RepUnit*> reps;
  std::vector<DepthwiseUnit*> depthwise;
};

// Makes empty weights of the config's sizes and the table whose members they are.
struct BoundModules {
  std::shared_ptr<Weights> weights;
  ModuleTable table;  // owns the weights too
};
BoundModules DescribeModules(const Config& config);

// Folds every convolution with its batch norms, on the worker pool. Throws Error(kModel).
void FoldConvolutions(Weights& weights);

}  // namespace platen::pp_doclayout
