#include "model/families/glm_input/modules.h"

#include <string>

namespace platen::glm_input {
namespace {

using Bias = ModuleScope::Bias;

constexpr char kVisual[] = "model.visual.";

void DescribeBlock(const VisionConfig& c, VisionBlockWeights& w, ModuleScope& scope) {
  const int64_t width = c.hidden_size;
  const int64_t inner = c.intermediate_size;
  scope.AddVector(w.norm1, "norm1.weight", width);
  scope.AddVector(w.norm2, "norm2.weight", width);
  scope.AddLinear(w.qkv, "attn.qkv", {3 * width, width}, Bias::kStored);
  scope.AddVector(w.q_norm, "attn.q_norm.weight", c.head_dim());
  scope.AddVector(w.k_norm, "attn.k_norm.weight", c.head_dim());
  scope.AddLinear(w.proj, "attn.proj", {width, width}, Bias::kStored);
  scope
      .AddStacked(w.gate_up, "mlp.gate_up", {{"mlp.gate_proj", inner}, {"mlp.up_proj", inner}},
                  width, Bias::kStored)
      .silu_mul = true;
  scope.AddLinear(w.down, "mlp.down_proj", {width, inner}, Bias::kStored);
}

void DescribeMerger(const VisionConfig& c, VisionWeights& w, ModuleTable& table) {
  const int64_t out = c.out_hidden_size;
  const int64_t inner = c.merger_intermediate_size();
  ModuleScope downsample(table, kVisual, "merger", RowsOf::kImageToken);
  // The 2x2 convolution [D, C, 2, 2] as a matrix [D, 4C] over four concatenated patch rows:
  // column (2 dy + dx) C + c  <-  weight[d][c][dy][dx].
  downsample
      .AddLinear(w.downsample, "downsample",
                 {out, c.hidden_size, c.spatial_merge_size, c.spatial_merge_size}, Bias::kStored)
      .taps = int64_t{c.spatial_merge_size} * c.spatial_merge_size;
  ModuleScope scope(table, std::string(kVisual) + "merger.", "merger", RowsOf::kImageToken);
  scope.AddLinear(w.merger_proj, "proj", {out, out});
  scope.AddVector(w.merger_norm, "post_projection_norm.weight", out);
  scope.AddVector(w.merger_norm_bias, "post_projection_norm.bias", out);
  scope.AddStacked(w.merger_gate_up, "gate_up", {{"gate_proj", inner}, {"up_proj", inner}}, out)
      .silu_mul = true;
  scope.AddLinear(w.merger_down, "down_proj", {out, inner});
}

}  // namespace

void DescribeVision(const VisionConfig& c, VisionWeights& w, ModuleTable& table) {
  ModuleScope first(table, kVisual, "vision", RowsOf::kPatch);
  first.AddLinear(w.patch_embed, "patch_embed.proj",
                  {c.hidden_size, c.in_channels, c.temporal_patch_size, c.patch_size, c.patch_size},
                  Bias::kStored);
  w.blocks.resize(static_cast<size_t>(c.depth));
  for (int i = 0; i < c.depth; ++i) {
    ModuleScope scope(table, std::string(kVisual) + "blocks." + std::to_string(i) + ".", "vision",
                      RowsOf::kPatch);
    DescribeBlock(c, w.blocks[static_cast<size_t>(i)], scope);
  }
  ModuleScope last(table, kVisual, "vision", RowsOf::kPatch);
  last.AddVector(w.post_layernorm, "post_layernorm.weight", c.hidden_size);
  DescribeMerger(c, w, table);
}

}  // namespace platen::glm_input
