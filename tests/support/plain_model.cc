#include "tests/support/plain_model.h"

#include <cmath>

#include "tests/support/glm_ocr.h"

namespace platen::testing {
namespace {

using Row = PlainModel::Row;
using Rows = PlainModel::Rows;

double Silu(double x) { return x / (1.0 + std::exp(-x)); }

Row Sum(const Row& a, const Row& b) {
  Row r(a.size());
  for (size_t i = 0; i < a.size(); ++i) r[i] = a[i] + b[i];
  return r;
}

Row SiluMul(const Row& gate, const Row& up) {
  Row r(gate.size());
  for (size_t i = 0; i < gate.size(); ++i) r[i] = Silu(gate[i]) * up[i];
  return r;
}

Row Slice(const Row& x, size_t first, size_t count) {
  return Row(x.begin() + static_cast<ptrdiff_t>(first),
             x.begin() + static_cast<ptrdiff_t>(first + count));
}

// softmax(q k^T / sqrt(d)) v over the first `visible` keys.
Row Attend(const Row& q, const Rows& k, const Rows& v, size_t visible) {
  std::vector<double> p(visible);
  double max = -1e300;
  for (size_t t = 0; t < visible; ++t) {
    for (size_t i = 0; i < q.size(); ++i) p[t] += q[i] * k[t][i];
    p[t] /= std::sqrt(static_cast<double>(q.size()));
    max = std::max(max, p[t]);
  }
  double sum = 0;
  for (double& x : p) sum += x = std::exp(x - max);
  Row out(q.size());
  for (size_t t = 0; t < visible; ++t) {
    for (size_t i = 0; i < q.size(); ++i) out[i] += p[t] / sum * v[t][i];
  }
  return out;
}

}  // namespace

PlainModel::PlainModel(const Snapshot& snapshot) : config_(GlmConfig(snapshot)) {
  for (const auto& [name, stored] : snapshot.checkpoint.tensors()) {
    std::vector<float> values(static_cast<size_t>(stored.num_elements()));
    WidenToF32(stored, values);
    tensors_[name] = {stored.shape, std::vector<double>(values.begin(), values.end())};
  }
}

Row PlainModel::Linear(const std::string& name, const Row& x) const {
  const Tensor& w = T(name + ".weight");
  const auto rows = static_cast<size_t>(w.shape[0]);
  Row y(rows);
  for (size_t n = 0; n < rows; ++n) {
    for (size_t i = 0; i < x.size(); ++i) y[n] += w.values[n * x.size() + i] * x[i];
  }
  if (tensors_.contains(name + ".bias")) y = Sum(y, T(name + ".bias").values);
  return y;
}

Row PlainModel::Rms(const std::string& name, const Row& x, double eps) const {
  const Tensor& w = T(name + ".weight");
  double mean = 0;
  for (const double v : x) mean += v * v / static_cast<double>(x.size());
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] / std::sqrt(mean + eps) * w.values[i];
  return y;
}

Rows PlainModel::Vision(const std::vector<float>& patches, PatchGrid grid) const {
  const glm_input::VisionConfig& c = config_.input.vision;
  const auto heads = static_cast<size_t>(c.num_heads);
  const auto d = static_cast<size_t>(c.head_dim());
  const auto width = static_cast<size_t>(c.hidden_size);
  const auto values = static_cast<size_t>(c.patch_values());
  const std::string root = "model.visual.";
  Rows x;
  std::vector<std::pair<int, int>> place;  // row, column of every patch
  for (size_t p = 0; p < static_cast<size_t>(grid.num_patches()); ++p) {
    x.push_back(Linear(root + "patch_embed.proj",
                       Row(patches.begin() + static_cast<ptrdiff_t>(p * values),
                           patches.begin() + static_cast<ptrdiff_t>((p + 1) * values))));
    const int block = static_cast<int>(p / 4);
    const int inner = static_cast<int>(p % 4);
    place.emplace_back(block / (grid.cols / 2) * 2 + inner / 2,
                       block % (grid.cols / 2) * 2 + inner % 2);
  }
  const auto rotate = [&](Row v, size_t p) {
    Row r = v;
    for (size_t i = 0; i < d / 2; ++i) {
      const double f = std::pow(
          c.rope_theta, -2.0 * static_cast<double>(i % (d / 4)) / (static_cast<double>(d) / 2));
      const double angle = (i < d / 4 ? place[p].first : place[p].second) * f;
      r[i] = v[i] * std::cos(angle) - v[i + d / 2] * std::sin(angle);
      r[i + d / 2] = v[i + d / 2] * std::cos(angle) + v[i] * std::sin(angle);
    }
    return r;
  };
  for (int b = 0; b < c.depth; ++b) {
    const std::string block = root + "blocks." + std::to_string(b) + ".";
    std::vector<Rows> q(heads), k(heads), v(heads);
    for (size_t p = 0; p < x.size(); ++p) {
      const Row qkv = Linear(block + "attn.qkv", Rms(block + "norm1", x[p], c.rms_norm_eps));
      for (size_t h = 0; h < heads; ++h) {
        q[h].push_back(rotate(Rms(block + "attn.q_norm", Slice(qkv, h * d, d), c.rms_norm_eps), p));
        k[h].push_back(
            rotate(Rms(block + "attn.k_norm", Slice(qkv, width + h * d, d), c.rms_norm_eps), p));
        v[h].push_back(Slice(qkv, 2 * width + h * d, d));
      }
    }
    for (size_t p = 0; p < x.size(); ++p) {
      Row all;
      for (size_t h = 0; h < heads; ++h) {
        const Row o = Attend(q[h][p], k[h], v[h], x.size());
        all.insert(all.end(), o.begin(), o.end());
      }
      x[p] = Sum(x[p], Linear(block + "attn.proj", all));
      const Row m = Rms(block + "norm2", x[p], c.rms_norm_eps);
      x[p] = Sum(x[p], Linear(block + "mlp.down_proj", SiluMul(Linear(block + "mlp.gate_proj", m),
                                                               Linear(block + "mlp.up_proj", m))));
    }
  }
  Rows out;
  const Tensor& conv = T(root + "downsample.weight");
  for (size_t token = 0; token < x.size() / 4; ++token) {
    Row y = T(root + "downsample.bias").values;
    for (size_t dy = 0; dy < 2; ++dy) {
      for (size_t dx = 0; dx < 2; ++dx) {
        const Row patch = Rms(root + "post_layernorm", x[token * 4 + dy * 2 + dx], c.rms_norm_eps);
        for (size_t o = 0; o < y.size(); ++o) {
          for (size_t ch = 0; ch < width; ++ch) {
            y[o] += conv.values[((o * width + ch) * 2 + dy) * 2 + dx] * patch[ch];
          }
        }
      }
    }
    Row z = Linear(root + "merger.proj", y);
    double mean = 0;
    double variance = 0;
    for (const double value : z) mean += value / static_cast<double>(z.size());
    for (const double value : z)
      variance += (value - mean) * (value - mean) / static_cast<double>(z.size());
    const Tensor& nw = T(root + "merger.post_projection_norm.weight");
    const Tensor& nb = T(root + "merger.post_projection_norm.bias");
    for (size_t i = 0; i < z.size(); ++i) {
      const double n = (z[i] - mean) / std::sqrt(variance + 1e-5) * nw.values[i] + nb.values[i];
      z[i] = 0.5 * n * std::erfc(-n / std::sqrt(2.0));
    }
    out.push_back(Linear(root + "merger.down_proj", SiluMul(Linear(root + "merger.gate_proj", z),
                                                            Linear(root + "merger.up_proj", z))));
  }
  return out;
}

Row PlainModel::Embedding(TokenId id) const {
  const auto width = static_cast<size_t>(config_.text.hidden_size);
  return Slice(T("model.language_model.embed_tokens.weight").values,
               static_cast<size_t>(id) * width, width);
}

Rows PlainModel::DecoderLayer(int layer, Rows x,
                              const std::array<std::vector<int32_t>, 3>& positions) const {
  const glm_ocr::TextConfig& c = config_.text;
  const auto heads = static_cast<size_t>(c.num_heads);
  const auto kv_heads = static_cast<size_t>(c.num_kv_heads);
  const auto d = static_cast<size_t>(c.head_dim);
  const std::string p = "model.language_model.layers." + std::to_string(layer) + ".";
  const auto rotate = [&](const Row& v, size_t row) {
    Row r(d);
    for (size_t i = 0; i < d / 2; ++i) {
      const auto n = static_cast<int>(i);
      const size_t axis = n < c.mrope_section[0]                        ? 0
                          : n < c.mrope_section[0] + c.mrope_section[1] ? 1
                                                                        : 2;
      const double angle =
          positions[axis][row] *
          std::pow(c.rope_theta, -2.0 * static_cast<double>(i) / static_cast<double>(d));
      r[2 * i] = v[2 * i] * std::cos(angle) - v[2 * i + 1] * std::sin(angle);
      r[2 * i + 1] = v[2 * i + 1] * std::cos(angle) + v[2 * i] * std::sin(angle);
    }
    return r;
  };
  std::vector<Rows> q(heads), k(kv_heads), v(kv_heads);
  for (size_t row = 0; row < x.size(); ++row) {
    const Row a = Rms(p + "input_layernorm", x[row], c.rms_norm_eps);
    const Row qs = Linear(p + "self_attn.q_proj", a);
    const Row ks = Linear(p + "self_attn.k_proj", a);
    const Row vs = Linear(p + "self_attn.v_proj", a);
    for (size_t h = 0; h < heads; ++h) q[h].push_back(rotate(Slice(qs, h * d, d), row));
    for (size_t h = 0; h < kv_heads; ++h) {
      k[h].push_back(rotate(Slice(ks, h * d, d), row));
      v[h].push_back(Slice(vs, h * d, d));
    }
  }
  for (size_t row = 0; row < x.size(); ++row) {
    Row all;
    for (size_t h = 0; h < heads; ++h) {
      const size_t kv = h / (heads / kv_heads);
      const Row o = Attend(q[h][row], k[kv], v[kv], row + 1);
      all.insert(all.end(), o.begin(), o.end());
    }
    x[row] = Sum(x[row], Rms(p + "post_self_attn_layernorm", Linear(p + "self_attn.o_proj", all),
                             c.rms_norm_eps));
    const Row gate_up =
        Linear(p + "mlp.gate_up_proj", Rms(p + "post_attention_layernorm", x[row], c.rms_norm_eps));
    const size_t half = gate_up.size() / 2;
    const Row inner = SiluMul(Slice(gate_up, 0, half), Slice(gate_up, half, half));
    x[row] = Sum(x[row],
                 Rms(p + "post_mlp_layernorm", Linear(p + "mlp.down_proj", inner), c.rms_norm_eps));
  }
  return x;
}

Rows PlainModel::Hidden(const std::vector<TokenId>& ids,
                        const std::array<std::vector<int32_t>, 3>& positions,
                        const Rows& images) const {
  Rows x;
  size_t image_row = 0;
  for (const TokenId id : ids) {
    // Beyond the prompt's images an image token is a generated token like any other.
    const bool image = id == config_.input.image_tokens.image && image_row < images.size();
    x.push_back(image ? images[image_row++] : Embedding(id));
  }
  for (int layer = 0; layer < config_.text.num_layers; ++layer) {
    x = DecoderLayer(layer, std::move(x), positions);
  }
  for (Row& row : x) row = Rms("model.language_model.norm", row, config_.text.rms_norm_eps);
  return x;
}

Row PlainModel::Logits(const Row& hidden) const {
  if (!config_.text.tie_word_embeddings) return Linear("lm_head", hidden);
  return Linear("model.language_model.embed_tokens", hidden);
}

Rows PlainModel::Draft(const Rows& hidden, const std::vector<TokenId>& next_tokens,
                       const std::array<std::vector<int32_t>, 3>& positions) const {
  const glm_ocr::TextConfig& c = config_.text;
  const std::string p = "model.language_model.layers." + std::to_string(c.num_layers) + ".";
  Rows z;
  for (size_t i = 0; i < hidden.size(); ++i) {
    Row joined = Rms(p + "enorm", Embedding(next_tokens[i]), c.rms_norm_eps);
    const Row h = Rms(p + "hnorm", hidden[i], c.rms_norm_eps);
    joined.insert(joined.end(), h.begin(), h.end());
    z.push_back(Linear(p + "eh_proj", joined));
  }
  z = DecoderLayer(c.num_layers, std::move(z), positions);
  for (Row& row : z) row = Rms(p + "shared_head.norm", row, c.rms_norm_eps);
  return z;
}

}  // namespace platen::testing
