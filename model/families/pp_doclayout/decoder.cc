#include "model/families/pp_doclayout/decoder.h"

#include <cmath>
#include <string>

#include "model/ops/deformable_attention.h"

namespace platen::pp_doclayout {
namespace {

using Mode = Linear::Mode;

constexpr float kNoOrder = -1e4F;

class Decoder {
 public:
  Decoder(const KernelTable& kernels, const Config& config, const DecoderWeights& weights,
          LinearWorkspace& linear, QueryMemory& queries, DecoderMemory& memory)
      : kernels_(kernels),
        config_(config),
        w_(weights),
        linear_(linear),
        queries_(queries),
        memory_(memory) {
    for (int level = 0; level < kLevels; ++level) {
      levels_[static_cast<size_t>(level)] = {config.level_height(level), config.level_width(level)};
    }
  }

  // x = norm(x + self(x)), x = norm(x + cross(x)), x = norm(x + ffn(x)); then the boxes.
  void Layer(size_t index, const ArrayObserver& observer) const {
    const DecoderLayer& layer = w_.layers[index];
    const std::string name = std::to_string(index);
    const MatView x = queries_.x.View();
    const ConstMatView positions =
        RunMlp(kernels_, w_.query_pos, queries_.boxes.View(), linear_, memory_.mlp);
    ReportRows(observer, "query_pos" + name, positions);
    AddSelfAttention(kernels_, layer.self_attention, config_.decoder.heads, positions, x, linear_,
                     memory_.attention);
    Norm(layer.self_norm, x);
    ReportRows(observer, "decoder" + name + "_self", x);
    Cross(layer, positions, x);
    Norm(layer.cross_norm, x);
    ReportRows(observer, "decoder" + name + "_cross", x);
    const MatView inner = memory_.ffn.Shaped(x.rows, config_.decoder.ffn);
    layer.fc1.Apply(kernels_, x, inner, linear_, Mode::kRelu);
    layer.fc2.Apply(kernels_, inner, x, linear_, Mode::kAddTo);
    Norm(layer.final_norm, x);
    ReportRows(observer, "decoder" + name, x);
    Refine(x);
    ReportRows(observer, "reference" + name, queries_.boxes.View());
  }

  void Heads(const ArrayObserver& observer) const {
    const MatView x = queries_.x.View();
    ReportRows(observer, "boxes", queries_.boxes.View());
    Norm(w_.norm, x);
    const MatView logits = memory_.logits.Shaped(x.rows, w_.score.columns());
    w_.score.Apply(kernels_, x, logits, linear_);
    ReportRows(observer, "logits", logits);
    const MatView ordered = memory_.placed.Shaped(x.rows, x.cols);
    w_.layers.back().order.Apply(kernels_, x, ordered, linear_);
    const MatView pointers = memory_.sampling.Shaped(x.rows, w_.pointer.columns());
    w_.pointer.Apply(kernels_, ordered, pointers, linear_);
    Order(pointers);
    ReportRows(observer, "order_logits", memory_.order_logits.View());
  }

 private:
  void Norm(const LayerNormWeights& norm, MatView x) const {
    Normalise(kernels_, norm, config_.layer_norm_eps, x);
  }

  void Cross(const DecoderLayer& layer, ConstMatView positions, MatView x) const {
    const MatView placed = memory_.placed.Shaped(x.rows, x.cols);
    AddRows(x, positions, placed);
    const MatView sampling = memory_.sampling.Shaped(x.rows, layer.sampling.columns());
    layer.sampling.Apply(kernels_, placed, sampling, linear_);
    const ConstMatView tokens = queries_.memory.View();
    const MatView values = memory_.values.Shaped(tokens.rows, tokens.cols);
    layer.value.Apply(kernels_, tokens, values, linear_);
    const DeformableShape shape = {config_.decoder.heads, config_.decoder.points, levels_};
    const int64_t samples = shape.heads * shape.samples();
    const MatView sampled = memory_.sampled.Shaped(x.rows, x.cols);
    DeformableAttention(shape, values,
                        {sampling.Columns(0, 2 * samples), sampling.Columns(2 * samples, samples),
                         queries_.boxes.View()},
                        sampled);
    layer.output.Apply(kernels_, sampled, x, linear_, Mode::kAddTo);
  }

  void Refine(ConstMatView x) const {
    const ConstMatView delta = RunMlp(kernels_, w_.box, x, linear_, memory_.mlp);
    for (int64_t q = 0; q < x.rows; ++q) {
      float* box = queries_.boxes.View().Row(q);
      for (int i = 0; i < 4; ++i) box[i] = Sigmoid(delta.Row(q)[i] + InverseSigmoid(box[i]));
    }
  }

  // pointers [Q, 2 n]: queries | keys.
  void Order(ConstMatView pointers) const {
    const int64_t n = pointers.cols / 2;
    const double scale = 1 / std::sqrt(static_cast<double>(n));
    const MatView order = memory_.order_logits.Shaped(pointers.rows, pointers.rows);
    for (int64_t i = 0; i < pointers.rows; ++i) {
      for (int64_t j = 0; j < pointers.rows; ++j) {
        double dot = 0;
        for (int64_t k = 0; j > i && k < n; ++k) {
          dot += static_cast<double>(pointers.Row(i)[k]) * pointers.Row(j)[n + k];
        }
        order.Row(i)[j] = j > i ? static_cast<float>(dot * scale) : kNoOrder;
      }
    }
  }

  const KernelTable& kernels_;
  const Config& config_;
  const DecoderWeights& w_;
  LinearWorkspace& linear_;
  QueryMemory& queries_;
  DecoderMemory& memory_;
  std::array<MapSize, kLevels> levels_;
};

}  // namespace

void RunDecoder(const KernelTable& kernels, const Config& config, const DecoderWeights& weights,
                LinearWorkspace& linear, QueryMemory& queries, DecoderMemory& memory,
                const ArrayObserver& observer) {
  const Decoder decoder(kernels, config, weights, linear, queries, memory);
  for (size_t i = 0; i < weights.layers.size(); ++i) decoder.Layer(i, observer);
  decoder.Heads(observer);
}

}  // namespace platen::pp_doclayout
