#include "model/families/glm_input/vision.h"

#include <algorithm>
#include <cmath>

#include "model/ops/norm.h"
#include "model/ops/parallel.h"
#include "model/ops/rope.h"
#include "model/ops/swiglu.h"
#include "model/support/ceil_div.h"

namespace platen::glm_input {
namespace {

// LayerNorm's own default in the reference: it does not follow rms_norm_eps.
constexpr float kMergerNormEps = 1e-5F;

}  // namespace

VisionEncoder::VisionEncoder(const VisionConfig& config, const ImageProcessorConfig& images,
                             const VisionWeights& weights, const KernelTable& kernels,
                             VisionAttention attention)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      attention_(MakeEncoderAttention(kernels, attention, config.num_heads, config.head_dim())),
      processor_(images),
      // Half of the head's angles follow the row, half the column; each half has d / 4 of them.
      inverse_frequencies_(InverseFrequencies(config.rope_theta, config.head_dim() / 2)) {}

std::unique_ptr<Workspace> VisionEncoder::MakeWorkspace() const {
  return std::make_unique<VisionWorkspace>();
}

void VisionEncoder::Encode(std::span<const PreparedImage* const> images, Workspace& workspace,
                           MatView out, const Observer& observer) const {
  if (images.empty()) return;
  auto& ws = static_cast<VisionWorkspace&>(workspace);
  const Plan plan = MakePlan(images);
  LoadPatches(images, plan, ws);
  std::vector<ImageRows> rows;
  for (const Segment& segment : plan.segments) rows.push_back(segment.rows);
  attention_->Begin(rows, ws.attention);

  // x = patch_embed(pixels)
  weights_.patch_embed.Apply(kernels_, ws.pixels.View(),
                             ws.x.Shaped(plan.num_patches, config_.hidden_size), ws.linear);
  if (observer) observer("vision_patch_embed", ws.x.View());
  for (size_t i = 0; i < weights_.blocks.size(); ++i) {
    Block(weights_.blocks[i], ws);
    if (observer) observer("vision_block" + std::to_string(i), ws.x.View());
  }
  Tail(ws, out, observer);
}

VisionEncoder::Plan VisionEncoder::MakePlan(std::span<const PreparedImage* const> images) {
  Plan plan;
  for (const PreparedImage* image : images) {
    const int64_t n = image->grid.num_patches();
    plan.segments.push_back({{plan.num_patches, n}, image->grid});
    plan.num_patches += n;
  }
  return plan;
}

void VisionEncoder::LoadPatches(std::span<const PreparedImage* const> images, const Plan& plan,
                                VisionWorkspace& ws) const {
  const int64_t values = config_.patch_values();
  const int64_t d = config_.head_dim();
  MatView pixels = ws.pixels.Shaped(plan.num_patches, values);
  MatView cos = ws.cos.Shaped(plan.num_patches, d / 2);
  MatView sin = ws.sin.Shaped(plan.num_patches, d / 2);
  ParallelFor(static_cast<int64_t>(plan.segments.size()), [&](int64_t i) {
    const Segment& s = plan.segments[static_cast<size_t>(i)];
    processor_.WritePatches(*images[static_cast<size_t>(i)],
                            {pixels.Row(s.rows.first), static_cast<size_t>(s.rows.count * values)});
    FillVisionRopeTables(inverse_frequencies_, s.grid.rows, s.grid.cols,
                         cos.Rows(s.rows.first, s.rows.count),
                         sin.Rows(s.rows.first, s.rows.count));
  });
}

void VisionEncoder::Block(const VisionBlockWeights& w, VisionWorkspace& ws) const {
  MatView x = ws.x.View();

  // x = x + proj(attention(norm1(x)))
  w.qkv.ApplyInPieces(
      kernels_, {x, w.norm1, config_.rms_norm_eps}, config_.head_dim(),
      [&](const Linear::Piece& piece) { ScatterQkv(w, piece, ws); }, ws.linear);
  attention_->Run(ws.attention);
  w.proj.Apply(kernels_, ws.attention.out.View(), x, ws.linear, Linear::Mode::kAddTo);

  // x = x + down(silu(gate(norm2(x))) * up(norm2(x)))
  ApplySwiGlu(kernels_, w.gate_up, w.down, {x, w.norm2, config_.rms_norm_eps}, x, ws.linear,
              Linear::Mode::kAddTo);
}

// Some heads of q, k and v of some patches, straight from the linear. Heads of q come first, then
// those of k, then those of v; q and k: norm over the head, then rotation.
void VisionEncoder::ScatterQkv(const VisionBlockWeights& w, const Linear::Piece& piece,
                               VisionWorkspace& ws) const {
  const int64_t d = config_.head_dim();
  const int64_t heads = config_.num_heads;
  for (int64_t column = 0; column < piece.values.cols; column += d) {
    const int64_t head = (piece.first_column + column) / d;
    const MatView rows = piece.values.Columns(column, d);
    if (head < heads) {
      NormAndRotate(w.q_norm, piece.first_row, rows, ws);
      attention_->PutQueries(head, piece.first_row, rows, ws.attention);
    } else if (head < 2 * heads) {
      NormAndRotate(w.k_norm, piece.first_row, rows, ws);
      attention_->PutKeys(head - heads, piece.first_row, rows, ws.attention);
    } else {
      attention_->PutValues(head - 2 * heads, piece.first_row, rows, ws.attention);
    }
  }
}

// In place, one head of some patches.
void VisionEncoder::NormAndRotate(std::span<const float> norm, int64_t first_patch, MatView rows,
                                  VisionWorkspace& ws) const {
  const int d = config_.head_dim();
  for (int64_t i = 0; i < rows.rows; ++i) {
    float* row = rows.Row(i);
    kernels_.rms_norm(row, norm.data(), config_.rms_norm_eps, d, row);
    kernels_.rope_half(ws.cos.View().Row(first_patch + i), ws.sin.View().Row(first_patch + i), d,
                       row);
  }
}

void VisionEncoder::Tail(VisionWorkspace& ws, MatView out, const Observer& observer) const {
  const int64_t patches = ws.x.rows();
  const int64_t tokens = patches / 4;
  const int64_t width = config_.out_hidden_size;
  MatView normed = ws.normed.Shaped(patches, config_.hidden_size);
  RmsNormRows(kernels_, ws.x.View(), weights_.post_layernorm, config_.rms_norm_eps, normed);
  if (observer) observer("vision_post_layernorm", normed);

  // Four consecutive patch rows are one 2x2 block: the convolution is a product with their
  // concatenation.
  const ConstMatView blocks = {normed.data, tokens, 4 * normed.cols, 4 * normed.cols};
  MatView merged = ws.merged.Shaped(tokens, width);
  weights_.downsample.Apply(kernels_, blocks, merged, ws.linear);
  if (observer) observer("vision_downsample", merged);

  // z = gelu(layer_norm(proj(y)));  out = down(silu(gate(z)) * up(z))
  MatView z = ws.merged_normed.Shaped(tokens, width);
  weights_.merger_proj.Apply(kernels_, merged, z, ws.linear);
  LayerNormGeluRows(kernels_, z, weights_.merger_norm, weights_.merger_norm_bias, kMergerNormEps,
                    z);
  ApplySwiGlu(kernels_, weights_.merger_gate_up, weights_.merger_down, z, out, ws.linear);
  if (observer) observer("vision_embeds", out);
}

}  // namespace platen::glm_input
