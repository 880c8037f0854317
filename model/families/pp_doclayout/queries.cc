#include "model/families/pp_doclayout/queries.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/families/pp_doclayout/mask_boxes.h"
#include "model/ops/norm.h"
#include "model/support/error.h"
#include "model/support/fixed_math.h"

namespace platen::pp_doclayout {
namespace {

constexpr float kAnchorMargin = 0.01F;
constexpr float kAnchorSide = 0.05F;  // of the first level; doubles from level to level
constexpr double kLeastShare = 1e-5;

// The maps through 1x1 convolutions, one below the other.
void JoinLevels(const KernelTable& kernels, const Config& config, const DecoderWeights& w,
                const EncoderMaps& maps, LinearWorkspace& linear, MatView memory) {
  int64_t row = 0;
  for (size_t i = 0; i < kLevels; ++i) {
    const ConstMapView map = maps.pan[i].View();
    const MapView out = {memory.Rows(row, map.pixels.rows), map.height, map.width};
    w.input_proj[i].folded.Apply(kernels, map, out, Linear::Mode::kStore, linear);
    row += map.pixels.rows;
  }
  if (row != config.tokens()) throw std::logic_error("levels of unexpected sizes");
}

std::vector<float> BestScores(ConstMatView scores) {
  std::vector<float> best;
  for (int64_t r = 0; r < scores.rows; ++r) {
    const float* row = scores.Row(r);
    float most = row[0];
    for (int64_t i = 0; i < scores.cols; ++i) {
      if (!std::isfinite(row[i])) {
        throw Error(ErrorKind::kInput, {}, "the layout model gives no numbers for this page");
      }
      most = std::max(most, row[i]);
    }
    best.push_back(most);
  }
  return best;
}

// The rows, zeros where the token is not valid: only the scores are made of these.
ConstMatView WithoutInvalid(const Config& config, ConstMatView memory, Mat& out,
                            const ArrayObserver& observer) {
  const std::vector<uint8_t> valid = ValidTokens(config);
  if (observer) observer({"valid", {memory.rows}, std::span<const uint8_t>(valid)});
  const MatView seen = out.Shaped(memory.rows, memory.cols);
  for (int64_t t = 0; t < memory.rows; ++t) {
    if (valid[static_cast<size_t>(t)] != 0) {
      std::copy_n(memory.Row(t), memory.cols, seen.Row(t));
    } else {
      std::fill_n(seen.Row(t), memory.cols, 0.0F);
    }
  }
  return seen;
}

// m.boxes = the boxes around the masks of the queries m.x.
void FirstBoxes(const KernelTable& kernels, const Config& config, const DecoderWeights& w,
                const EncoderMaps& maps, LinearWorkspace& linear, QueryMemory& m,
                const ArrayObserver& observer) {
  const ConstMatView x = m.x.View();
  const MatView normed = m.seen.Shaped(x.rows, x.cols);
  LayerNormRows(kernels, x, w.norm.weight, w.norm.bias, config.layer_norm_eps, normed);
  const ConstMatView masks = RunMlp(kernels, w.mask_query, normed, linear, m.mlp);
  ReportRows(observer, "mask_queries", masks);
  const MatView boxes = m.boxes.Shaped(x.rows, 4);
  MaskBoxes(kernels, masks, maps.mask_features.View(), boxes, observer);
  ReportRows(observer, "mask_boxes", boxes);
  for (float& share : m.boxes.span()) share = Sigmoid(InverseSigmoid(share));
  ReportRows(observer, "init_reference", boxes);
}

}  // namespace

ConstMatView RunMlp(const KernelTable& kernels, const Mlp& mlp, ConstMatView rows,
                    LinearWorkspace& linear, std::vector<Mat>& memory) {
  memory.resize(std::max(memory.size(), mlp.size()));
  for (size_t i = 0; i < mlp.size(); ++i) {
    const MatView out = memory[i].Shaped(rows.rows, mlp[i].columns());
    const bool last = i + 1 == mlp.size();
    mlp[i].Apply(kernels, rows, out, linear, last ? Linear::Mode::kStore : Linear::Mode::kRelu);
    rows = out;
  }
  return rows;
}

std::vector<uint8_t> ValidTokens(const Config& config) {
  const auto within = [](float share) {
    return share > kAnchorMargin && share < 1.0F - kAnchorMargin;
  };
  std::vector<uint8_t> valid;
  for (int level = 0; level < kLevels; ++level) {
    const int height = config.level_height(level), width = config.level_width(level);
    const bool side = within(kAnchorSide * static_cast<float>(1 << level));
    for (int y = 0; y < height; ++y) {
      const bool row = within((static_cast<float>(y) + 0.5F) / static_cast<float>(height));
      for (int x = 0; x < width; ++x) {
        const bool column = within((static_cast<float>(x) + 0.5F) / static_cast<float>(width));
        valid.push_back(side && row && column ? 1 : 0);
      }
    }
  }
  return valid;
}

std::vector<int64_t> BestTokens(const std::vector<float>& best, int count) {
  std::vector<int64_t> order(best.size());
  std::iota(order.begin(), order.end(), 0);
  const auto better = [&](int64_t a, int64_t b) {
    const float x = best[static_cast<size_t>(a)], y = best[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(order.begin(), order.begin() + count, order.end(), better);
  order.resize(static_cast<size_t>(count));
  return order;
}

float InverseSigmoid(float x) {
  const double share = std::clamp(static_cast<double>(x), 0.0, 1.0);
  return static_cast<float>(
      FixedLog(std::max(share, kLeastShare) / std::max(1 - share, kLeastShare)));
}

float Sigmoid(float x) { return static_cast<float>(FixedSigmoid(static_cast<double>(x))); }

void SelectQueries(const KernelTable& kernels, const Config& config, const DecoderWeights& w,
                   const EncoderMaps& maps, LinearWorkspace& linear, QueryMemory& m,
                   const ArrayObserver& observer) {
  const int64_t tokens = config.tokens(), d = config.decoder.width;
  const MatView memory = m.memory.Shaped(tokens, d);
  JoinLevels(kernels, config, w, maps, linear, memory);
  ReportRows(observer, "memory", memory);
  const MatView output = m.output.Shaped(tokens, d);
  w.enc_output.Apply(kernels, WithoutInvalid(config, memory, m.seen, observer), output, linear);
  Normalise(kernels, w.enc_output_norm, config.layer_norm_eps, output);
  ReportRows(observer, "enc_output", output);
  const MatView scores = m.scores.Shaped(tokens, w.enc_score.columns());
  w.enc_score.Apply(kernels, output, scores, linear);
  ReportRows(observer, "enc_logits", scores);
  const std::vector<float> best = BestScores(scores);
  if (observer) observer({"enc_best", {tokens}, std::span<const float>(best)});
  const int count = config.decoder.queries;
  const std::vector<int64_t> top = BestTokens(best, count);
  if (observer) observer({"topk", {count}, std::span<const int64_t>(top)});
  const MatView x = m.x.Shaped(count, d);
  for (int64_t q = 0; q < count; ++q) {
    std::copy_n(output.Row(top[static_cast<size_t>(q)]), d, x.Row(q));
  }
  FirstBoxes(kernels, config, w, maps, linear, m, observer);
}

}  // namespace platen::pp_doclayout
