#include "model/families/glm_ocr/vision.h"

#include <algorithm>
#include <cmath>

#include "model/ops/norm.h"
#include "model/ops/parallel.h"
#include "model/ops/rope.h"
#include "model/ops/swiglu.h"
#include "model/support/ceil_div.h"

namespace platen::glm_ocr {
namespace {

constexpr int kPageKeys = 64;             // keys per page of packed K and V
constexpr int64_t kQueriesPerTask = 192;  // query rows of one attention task

// LayerNorm's own default in the reference: it does not follow rms_norm_eps.
constexpr float kMergerNormEps = 1e-5F;

PageShape ShapeOf(int head_dim, VisionAttention attention) {
  if (attention == VisionAttention::kF32) {
    const auto padded = static_cast<int>(CeilDiv(head_dim, kLanes)) * kLanes;
    return {.type = KvType::kF32,
            .tokens = kPageKeys,
            .key_width = head_dim,
            .value_width = head_dim,
            .key_rows = head_dim,
            .value_stride = padded};
  }
  constexpr int kDepthStep = 32;  // of attention_bf16 and attention_bf16_dot
  const auto depth = static_cast<int>(CeilDiv(head_dim, kDepthStep)) * kDepthStep;
  return {.type = KvType::kBf16,
          .tokens = kPageKeys,
          .key_width = head_dim,
          .value_width = head_dim,
          .key_rows = depth,
          .value_stride = depth};
}

std::byte* PageAt(Mat& memory, int64_t index, int64_t bytes) {
  return reinterpret_cast<std::byte*>(memory.data()) + index * bytes;
}

}  // namespace

VisionEncoder::VisionEncoder(const VisionConfig& config, const ImageProcessorConfig& images,
                             const VisionWeights& weights, const KernelTable& kernels,
                             VisionAttention attention)
    : config_(config),
      weights_(weights),
      kernels_(kernels),
      attention_(AttentionOf(kernels, attention)),
      pages_(ShapeOf(config.head_dim(), attention)),
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
  ReservePages(plan, ws);

  // x = patch_embed(pixels)
  weights_.patch_embed.Apply(kernels_, ws.pixels.View(),
                             ws.x.Shaped(plan.num_patches, config_.hidden_size), ws.linear);
  if (observer) observer("vision_patch_embed", ws.x.View());
  for (size_t i = 0; i < weights_.blocks.size(); ++i) {
    Block(weights_.blocks[i], plan, ws);
    if (observer) observer("vision_block" + std::to_string(i), ws.x.View());
  }
  Tail(ws, out, observer);
}

VisionEncoder::Plan VisionEncoder::MakePlan(std::span<const PreparedImage* const> images) const {
  Plan plan;
  for (const PreparedImage* image : images) {
    const int64_t n = image->grid.num_patches();
    const int64_t pages = CeilDiv(n, kPageKeys);
    const auto segment = static_cast<int64_t>(plan.segments.size());
    plan.segments.push_back({plan.num_patches, n, plan.num_pages, pages, image->grid});
    plan.num_patches += n;
    plan.num_pages += pages;
    for (int64_t head = 0; head < config_.num_heads; ++head) {
      for (int64_t first = 0; first < n; first += kQueriesPerTask) {
        plan.tasks.push_back({segment, head, first, std::min(kQueriesPerTask, n - first)});
      }
    }
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
    processor_.WritePatches(
        *images[static_cast<size_t>(i)],
        {pixels.Row(s.first_patch), static_cast<size_t>(s.num_patches * values)});
    FillVisionRopeTables(inverse_frequencies_, s.grid.rows, s.grid.cols,
                         cos.Rows(s.first_patch, s.num_patches),
                         sin.Rows(s.first_patch, s.num_patches));
  });
}

// Room for the keys and values of one block, and where each head's pages begin.
void VisionEncoder::ReservePages(const Plan& plan, VisionWorkspace& ws) const {
  const int64_t pages = config_.num_heads * plan.num_pages;
  ws.keys.Resize(pages, pages_.key_bytes() / static_cast<int64_t>(sizeof(float)));
  ws.values.Resize(pages, pages_.value_bytes() / static_cast<int64_t>(sizeof(float)));
  ws.key_pages.clear();
  ws.value_pages.clear();
  for (int64_t p = 0; p < pages; ++p) {
    ws.key_pages.push_back(PageAt(ws.keys, p, pages_.key_bytes()));
    ws.value_pages.push_back(PageAt(ws.values, p, pages_.value_bytes()));
  }
  ClearLastPages(plan, ws);
}

// Zeros where an image ends within a page: attention on bf16 values reads them.
void VisionEncoder::ClearLastPages(const Plan& plan, VisionWorkspace& ws) const {
  for (int64_t head = 0; head < config_.num_heads; ++head) {
    for (const Segment& s : plan.segments) {
      if (s.num_patches % kPageKeys == 0) continue;
      const int64_t last = head * plan.num_pages + s.first_page + s.num_pages - 1;
      std::fill_n(PageAt(ws.keys, last, pages_.key_bytes()), pages_.key_bytes(), std::byte{0});
      std::fill_n(PageAt(ws.values, last, pages_.value_bytes()), pages_.value_bytes(),
                  std::byte{0});
    }
  }
}

void VisionEncoder::Block(const VisionBlockWeights& w, const Plan& plan,
                          VisionWorkspace& ws) const {
  const int64_t patches = ws.x.rows();
  const int64_t width = config_.hidden_size;
  MatView x = ws.x.View();

  // x = x + proj(attention(norm1(x)))
  ws.queries.Resize(config_.num_heads * patches, config_.head_dim());
  w.qkv.ApplyInPieces(
      kernels_, {x, w.norm1, config_.rms_norm_eps}, config_.head_dim(),
      [&](const Linear::Piece& piece) { ScatterQkv(w, plan, piece, ws); }, ws.linear);
  ws.attention_out.Resize(patches, width);
  Attend(plan, ws);
  w.proj.Apply(kernels_, ws.attention_out.View(), x, ws.linear, Linear::Mode::kAddTo);

  // x = x + down(silu(gate(norm2(x))) * up(norm2(x)))
  ApplySwiGlu(kernels_, w.gate_up, w.down, {x, w.norm2, config_.rms_norm_eps}, x, ws.linear,
              Linear::Mode::kAddTo);
}

// body(run) for the pages of patches [first_patch, first_patch + count).
template <class Body>
void VisionEncoder::ForPageRuns(const Plan& plan, int64_t first_patch, int64_t count,
                                const Body& body) {
  auto s = std::ranges::upper_bound(plan.segments, first_patch, {}, &Segment::first_patch) - 1;
  for (int64_t patch = first_patch; patch < first_patch + count;) {
    const int64_t at = patch - s->first_patch;
    const int64_t offset = at % kPageKeys;
    const int64_t n =
        std::min({kPageKeys - offset, s->num_patches - at, first_patch + count - patch});
    body(PageRun{patch, n, s->first_page + at / kPageKeys, static_cast<int>(offset)});
    patch += n;
    if (at + n == s->num_patches) ++s;
  }
}

// Some heads of q, k and v of some patches, straight from the linear.
void VisionEncoder::ScatterQkv(const VisionBlockWeights& w, const Plan& plan,
                               const Linear::Piece& piece, VisionWorkspace& ws) const {
  const int64_t d = config_.head_dim();
  ForPageRuns(plan, piece.first_row, piece.values.rows, [&](const PageRun& run) {
    const MatView rows = piece.values.Rows(run.patch - piece.first_row, run.count);
    for (int64_t column = 0; column < rows.cols; column += d) {
      ScatterHead(w, plan, run, (piece.first_column + column) / d, rows.Columns(column, d), ws);
    }
  });
}

// Heads of q come first, then those of k, then those of v. q and k: norm over the head, then
// rotation; k and v into pages per head and image.
void VisionEncoder::ScatterHead(const VisionBlockWeights& w, const Plan& plan, const PageRun& run,
                                int64_t head, MatView rows, VisionWorkspace& ws) const {
  const int64_t d = config_.head_dim();
  const int64_t heads = config_.num_heads;
  if (head < heads) {
    float* q = ws.queries.data() + (head * plan.num_patches + run.patch) * d;
    for (int64_t i = 0; i < run.count; ++i, q += d) {
      NormAndRotate(w.q_norm, run.patch + i, rows.Row(i), q, ws);
    }
    return;
  }
  const TokenRows tokens = {rows.data, rows.stride, static_cast<int>(run.count)};
  const int64_t page = head % heads * plan.num_pages + run.page;
  if (head < 2 * heads) {
    for (int64_t i = 0; i < run.count; ++i) {
      NormAndRotate(w.k_norm, run.patch + i, rows.Row(i), rows.Row(i), ws);
    }
    WriteKeys(kernels_, pages_, run.page_offset, tokens, PageAt(ws.keys, page, pages_.key_bytes()));
  } else {
    WriteValues(kernels_, pages_, run.page_offset, tokens,
                PageAt(ws.values, page, pages_.value_bytes()));
  }
}

// y = rotated rms_norm(x), one head of one patch; y may be x.
void VisionEncoder::NormAndRotate(std::span<const float> norm, int64_t patch, const float* x,
                                  float* y, VisionWorkspace& ws) const {
  const int d = config_.head_dim();
  kernels_.rms_norm(x, norm.data(), config_.rms_norm_eps, d, y);
  kernels_.rope_half(ws.cos.View().Row(patch), ws.sin.View().Row(patch), d, y);
}

// attention_out = softmax(q k^T / sqrt(d)) v, per image and head, over all patches of the image.
void VisionEncoder::Attend(const Plan& plan, VisionWorkspace& ws) const {
  const int d = config_.head_dim();
  ParallelFor(static_cast<int64_t>(plan.tasks.size()), [&](int64_t index) {
    const AttentionTask& task = plan.tasks[static_cast<size_t>(index)];
    const Segment& s = plan.segments[static_cast<size_t>(task.segment)];
    const float* q[kQueriesPerTask];
    float* out[kQueriesPerTask];
    int32_t context[kQueriesPerTask];
    for (int64_t i = 0; i < task.count; ++i) {
      const int64_t patch = s.first_patch + task.first + i;
      q[i] = ws.queries.data() + (task.head * plan.num_patches + patch) * d;
      out[i] = ws.attention_out.View().Row(patch) + task.head * d;
      context[i] = static_cast<int32_t>(s.num_patches);
    }
    const int64_t first_page = task.head * plan.num_pages + s.first_page;
    AttentionJob job;
    job.type = pages_.type;
    job.k_pages = ws.key_pages.data() + first_page;
    job.v_pages = ws.value_pages.data() + first_page;
    job.page_tokens = kPageKeys;
    job.head_dim = d;
    job.v_stride = pages_.value_stride;
    job.rows = static_cast<int>(task.count);
    job.q = q;
    job.scale = 1.0F / std::sqrt(static_cast<float>(d));
    job.context = context;
    job.out = out;
    attention_(job);
  });
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

}  // namespace platen::glm_ocr
