#include "tests/model/families/llama/plain_llama.h"

#include <cmath>

#include "tests/model/families/llama/llama.h"

namespace platen::llama {
namespace {

using Row = PlainLlama::Row;
using Rows = PlainLlama::Rows;

void AddTo(const Row& a, Row& b) {
  for (size_t i = 0; i < b.size(); ++i) b[i] += a[i];
}

// Head `h` of a row, rotated by its position.
Row RotatedHead(const Row& row, size_t h, size_t d, size_t position, double theta) {
  Row head(row.begin() + static_cast<ptrdiff_t>(h * d),
           row.begin() + static_cast<ptrdiff_t>((h + 1) * d));
  for (size_t i = 0; i < d; i += 2) {
    const double angle = static_cast<double>(position) *
                         std::pow(theta, -static_cast<double>(i) / static_cast<double>(d));
    const double x = head[i], y = head[i + 1];
    head[i] = x * std::cos(angle) - y * std::sin(angle);
    head[i + 1] = y * std::cos(angle) + x * std::sin(angle);
  }
  return head;
}

}  // namespace

PlainLlama::PlainLlama(const Snapshot& snapshot)
    : config_(dynamic_cast<const Llama&>(*snapshot.architecture).config()) {
  for (const auto& [name, stored] : snapshot.checkpoint.tensors()) {
    std::vector<float> values(static_cast<size_t>(stored.num_elements()));
    WidenToF32(stored, values);
    tensors_[name].assign(values.begin(), values.end());
  }
}

Row PlainLlama::Linear(const std::string& name, const Row& x) const {
  const std::vector<double>& w = tensors_.at(name + ".weight");
  Row y(w.size() / x.size());
  for (size_t n = 0; n < y.size(); ++n) {
    for (size_t k = 0; k < x.size(); ++k) y[n] += w[n * x.size() + k] * x[k];
  }
  return y;
}

Row PlainLlama::Norm(const std::string& name, const Row& x) const {
  double square = 0;
  for (const double v : x) square += v * v;
  const double scale =
      1.0 / std::sqrt(square / static_cast<double>(x.size()) + double{config_.rms_norm_eps});
  Row y = tensors_.at(name + ".weight");
  for (size_t i = 0; i < x.size(); ++i) y[i] *= x[i] * scale;
  return y;
}

Rows PlainLlama::Attention(const std::string& layer, const Rows& normed) const {
  const auto d = static_cast<size_t>(config_.head_dim());
  const auto heads = static_cast<size_t>(config_.num_heads);
  const size_t group = heads / static_cast<size_t>(config_.num_kv_heads);
  Rows q, k, v;
  for (const Row& row : normed) {
    q.push_back(Linear(layer + "self_attn.q_proj", row));
    k.push_back(Linear(layer + "self_attn.k_proj", row));
    v.push_back(Linear(layer + "self_attn.v_proj", row));
  }
  Rows out(normed.size(), Row(heads * d));
  for (size_t row = 0; row < normed.size(); ++row) {
    for (size_t h = 0; h < heads; ++h) {
      const Row query = RotatedHead(q[row], h, d, row, config_.rope_theta);
      std::vector<double> weights;
      double sum = 0;
      for (size_t t = 0; t <= row; ++t) {
        const Row key = RotatedHead(k[t], h / group, d, t, config_.rope_theta);
        double score = 0;
        for (size_t i = 0; i < d; ++i) score += query[i] * key[i];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(d))));
        sum += weights.back();
      }
      for (size_t t = 0; t <= row; ++t) {
        for (size_t i = 0; i < d; ++i) {
          out[row][h * d + i] += weights[t] / sum * v[t][h / group * d + i];
        }
      }
    }
  }
  return out;
}

Rows PlainLlama::Hidden(const std::vector<TokenId>& ids) const {
  const auto width = static_cast<size_t>(config_.hidden_size);
  const std::vector<double>& table = tensors_.at("model.embed_tokens.weight");
  Rows x;
  for (const TokenId id : ids) {
    const auto begin = table.begin() + static_cast<ptrdiff_t>(static_cast<size_t>(id) * width);
    x.emplace_back(begin, begin + static_cast<ptrdiff_t>(width));
  }
  for (int i = 0; i < config_.num_layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    Rows normed;
    for (const Row& row : x) normed.push_back(Norm(layer + "input_layernorm", row));
    const Rows attended = Attention(layer, normed);
    for (size_t r = 0; r < x.size(); ++r) {
      AddTo(Linear(layer + "self_attn.o_proj", attended[r]), x[r]);
      const Row n = Norm(layer + "post_attention_layernorm", x[r]);
      Row gate = Linear(layer + "mlp.gate_proj", n);
      const Row up = Linear(layer + "mlp.up_proj", n);
      for (size_t j = 0; j < gate.size(); ++j) gate[j] *= up[j] / (1.0 + std::exp(-gate[j]));
      AddTo(Linear(layer + "mlp.down_proj", gate), x[r]);
    }
  }
  for (Row& row : x) row = Norm("model.norm", row);
  return x;
}

Row PlainLlama::Logits(const Row& hidden) const { return Linear("lm_head", hidden); }

}  // namespace platen::llama
