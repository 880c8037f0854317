#include "tests/support/plain_minillm.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <stdexcept>

namespace platen::testing {
namespace {

using Row = PlainMiniLlm::Row;
using Rows = PlainMiniLlm::Rows;
using minillm::Config;
using minillm::RotaryConfig;
using minillm::RouterConfig;

constexpr double kMasked = -1e9;  // MiniLLM's mask of later keys

double Dot(const double* a, const double* b, size_t n) {
  return std::inner_product(a, a + n, b, 0.0);
}

// ln of the scaling's temperature: 0.1 m ln(s) + 1.
double Temperature(double s, double m) { return s <= 1 ? 1 : 0.1 * m * std::log(s) + 1; }

double Frequency(const RotaryConfig& r, int width, int max_positions, int d) {
  const double f = std::pow(r.theta, -2.0 * d / width);
  if (r.scaling == RotaryConfig::Scaling::kLinear) return f / r.factor;
  if (r.scaling == RotaryConfig::Scaling::kNone || max_positions <= r.original_positions) return f;
  const auto dimension = [&](double turns) {
    return width * std::log(r.original_positions / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(r.theta));
  };
  const double low = std::max(std::floor(dimension(r.beta_fast)), 0.0);
  double high = std::min(std::ceil(dimension(r.beta_slow)), width - 1.0);
  if (high == low) high += 1;
  const double ramp = std::clamp((d - low) / (high - low), 0.0, 1.0);
  return f / r.factor * ramp + f * (1 - ramp);
}

// The places of the `count` largest, the first of equal ones. Lowers *margin to the distance of the
// next one.
std::set<int> Largest(const Row& values, size_t count, double* margin) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  // Sums of the same terms in another order are equal, too.
  constexpr double kSteps = 1e12;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return std::round(values[static_cast<size_t>(a)] * kSteps) >
           std::round(values[static_cast<size_t>(b)] * kSteps);
  });
  if (count < order.size()) {
    const double distance =
        values[static_cast<size_t>(order[count - 1])] - values[static_cast<size_t>(order[count])];
    if (distance > 0) *margin = std::min(*margin, distance);
  }
  order.resize(std::min(order.size(), count));
  return {order.begin(), order.end()};
}

std::string LayerName(int layer) { return "model.layers." + std::to_string(layer) + "."; }

Row Softmax(Row x) {
  const double largest = *std::ranges::max_element(x);
  double sum = 0;
  for (double& v : x) sum += v = std::exp(v - largest);
  for (double& v : x) v /= sum;
  return x;
}

// Scores without the experts of groups that are not kept.
Row InKeptGroups(const RouterConfig& r, Row compared, double* margin) {
  const size_t size = compared.size() / static_cast<size_t>(r.groups);
  Row values;
  for (size_t g = 0; g < static_cast<size_t>(r.groups); ++g) {
    Row group(compared.begin() + static_cast<ptrdiff_t>(g * size),
              compared.begin() + static_cast<ptrdiff_t>((g + 1) * size));
    std::ranges::sort(group, std::greater<>());
    const bool two = r.group_value == RouterConfig::GroupValue::kTwoLargest;
    values.push_back(group[0] + (two ? group[1] : 0));
  }
  const std::set<int> kept = Largest(values, static_cast<size_t>(r.kept_groups), margin);
  for (size_t e = 0; e < compared.size(); ++e) {
    if (!kept.contains(static_cast<int>(e / size))) compared[e] = -INFINITY;
  }
  return compared;
}

}  // namespace

PlainMiniLlm::PlainMiniLlm(const Config& config, const Checkpoint& checkpoint, Sparse sparse)
    : config_(config), sparse_(sparse) {
  for (const auto& [name, stored] : checkpoint.tensors()) {
    std::vector<float> values(static_cast<size_t>(stored.num_elements()));
    WidenToF32(stored, values);
    tensors_[name] = {stored.shape, std::vector<double>(values.begin(), values.end())};
  }
  for (int layer = 0; layer < config.num_layers; ++layer)
    Unstack(LayerName(layer) + "mlp.experts.");
}

// Tensors of all experts of a layer, if they are stored so, as one for each expert.
void PlainMiniLlm::Unstack(const std::string& name) {
  if (!tensors_.contains(name + "gate_up_proj")) return;
  const auto part = [](const Tensor& of, int64_t first, int64_t rows) {
    const int64_t width = of.shape.back();
    const auto at = of.values.begin() + first * width;
    return Tensor{{rows, width}, Row(at, at + rows * width)};
  };
  const Tensor gate_up = T(name + "gate_up_proj"), down = T(name + "down_proj");
  for (int64_t e = 0; e < gate_up.shape[0]; ++e) {
    const std::string expert = name + std::to_string(e);
    const int64_t inner = gate_up.shape[1] / 2, hidden = down.shape[1];
    tensors_[expert + ".gate_proj.weight"] = part(gate_up, 2 * e * inner, inner);
    tensors_[expert + ".up_proj.weight"] = part(gate_up, (2 * e + 1) * inner, inner);
    tensors_[expert + ".down_proj.weight"] = part(down, e * hidden, hidden);
  }
}

const PlainMiniLlm::Tensor& PlainMiniLlm::T(const std::string& name,
                                            const std::string& other) const {
  const auto found = tensors_.find(tensors_.contains(name) || other.empty() ? name : other);
  if (found == tensors_.end()) throw std::runtime_error("no tensor " + name);
  return found->second;
}

Row PlainMiniLlm::Linear(const std::string& name, const Row& x, const std::string& other) const {
  const bool has = tensors_.contains(name + ".weight") || other.empty();
  const std::string& found = has ? name : other;
  const Tensor& w = T(found + ".weight");
  Row y;
  for (size_t n = 0; n < static_cast<size_t>(w.shape[0]); ++n) {
    y.push_back(Dot(w.values.data() + n * x.size(), x.data(), x.size()));
  }
  if (tensors_.contains(found + ".bias")) {
    for (size_t n = 0; n < y.size(); ++n) y[n] += T(found + ".bias").values[n];
  }
  return y;
}

Row PlainMiniLlm::Rms(const std::string& name, const Row& x, double eps,
                      const std::string& other) const {
  const Row& w = T(name + ".weight", other + ".weight").values;
  const double mean = Dot(x.data(), x.data(), x.size()) / static_cast<double>(x.size());
  Row y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] / std::sqrt(mean + eps) * w[i];
  return y;
}

// As the references have them: frequencies and angles rounded to float.
PlainMiniLlm::Angles PlainMiniLlm::AnglesOf(const std::vector<int32_t>& positions) const {
  const RotaryConfig& r = config_.rotary;
  const auto width = static_cast<size_t>(config_.rope_width);
  Angles angles;
  for (const int32_t position : positions) {
    Row cos(width), sin(width);
    if (r.tables_in_file) {
      const auto at = static_cast<size_t>(position) * width;
      for (size_t d = 0; d < width; ++d) {
        cos[d] = T("model.freqs_cos").values[at + d];
        sin[d] = T("model.freqs_sin").values[at + d];
      }
    } else {
      const bool yarn = r.scaling == RotaryConfig::Scaling::kYarn;
      const double factor =
          yarn ? Temperature(r.factor, r.mscale) / Temperature(r.factor, r.mscale_all_dim) : 1;
      for (size_t d = 0; d < width; ++d) {
        const auto f = static_cast<float>(Frequency(r, config_.rope_width, config_.max_positions,
                                                    static_cast<int>(d % (width / 2))));
        const double angle = static_cast<float>(position) * f;
        cos[d] = factor * std::cos(angle);
        sin[d] = factor * std::sin(angle);
      }
    }
    angles.cos.push_back(cos);
    angles.sin.push_back(sin);
  }
  return angles;
}

void PlainMiniLlm::Rotate(const Angles& angles, size_t row, bool adjacent, Row& x,
                          size_t first) const {
  const auto half = static_cast<size_t>(config_.rope_width) / 2;
  const Row &cos = angles.cos[row], &sin = angles.sin[row];
  const Row old = x;
  for (size_t d = 0; d < half; ++d) {
    const size_t i = first + (adjacent ? 2 * d : d), j = first + (adjacent ? 2 * d + 1 : d + half);
    x[i] = old[i] * cos[d] - old[j] * sin[d];
    x[j] = old[j] * cos[d + half] + old[i] * sin[d + half];
  }
}

PlainMiniLlm::Latents PlainMiniLlm::Project(const std::string& layer, const Rows& a,
                                            const Angles& angles) const {
  const std::string attn = layer + "self_attn.";
  const bool adjacent = config_.rotary.pairing == minillm::Pairing::kAdjacent;
  const auto rank = static_cast<ptrdiff_t>(config_.kv_rank);
  const auto nope = static_cast<size_t>(config_.nope_width);
  const auto width = static_cast<size_t>(config_.query_width());
  Latents l;
  for (size_t r = 0; r < a.size(); ++r) {
    const Row t = Linear(attn + "kv_a_proj", a[r], attn + "kv_a_proj_with_mqa");
    l.c.push_back(Rms(attn + "kv_a_norm", Row(t.begin(), t.begin() + rank), config_.latent_eps,
                      attn + "kv_a_layernorm"));
    Row k(t.begin() + rank, t.end());
    Rotate(angles, r, adjacent, k, 0);
    l.k.push_back(k);
    if (config_.q_rank > 0) {
      l.q_latent.push_back(Rms(attn + "q_a_norm", Linear(attn + "q_a_proj", a[r]),
                               config_.latent_eps, attn + "q_a_layernorm"));
    }
    Row q = config_.q_rank > 0 ? Linear(attn + "q_b_proj", l.q_latent.back())
                               : Linear(attn + "q_proj", a[r]);
    for (size_t h = 0; h < static_cast<size_t>(config_.num_heads); ++h) {
      Rotate(angles, r, adjacent, q, h * width + nope);
    }
    l.q.push_back(q);
  }
  return l;
}

Rows PlainMiniLlm::IndexScores(const std::string& layer, const Rows& a, const Latents& latents,
                               const Angles& angles) const {
  const std::string name = layer + "self_attn.indexer.";
  const auto heads = static_cast<size_t>(config_.index.heads);
  const auto width = static_cast<size_t>(config_.index.width);
  const bool lightning = config_.index.kind == minillm::IndexConfig::Kind::kLightning;
  Rows queries, keys, weights;
  for (size_t r = 0; r < a.size(); ++r) {
    queries.push_back(lightning ? Linear(name + "wq_b", latents.q_latent[r])
                                : Linear(name + "q_proj", a[r]));
    keys.push_back(Linear(lightning ? name + "wk" : name + "k_proj", a[r]));
    weights.emplace_back(heads, 1.0 / static_cast<double>(heads));
    if (!lightning) continue;
    Row& k = keys.back();
    const double mean = std::accumulate(k.begin(), k.end(), 0.0) / static_cast<double>(width);
    double variance = 0;
    for (const double v : k) variance += (v - mean) * (v - mean) / static_cast<double>(width);
    for (size_t i = 0; i < width; ++i) {
      k[i] = (k[i] - mean) / std::sqrt(variance + 1e-6) * T(name + "k_norm.weight").values[i] +
             T(name + "k_norm.bias").values[i];
    }
    Rotate(angles, r, /*adjacent=*/false, k, 0);
    for (size_t h = 0; h < heads; ++h) Rotate(angles, r, false, queries.back(), h * width);
    weights.back() = Linear(name + "weights_proj", a[r]);
    for (double& w : weights.back()) w /= std::sqrt(static_cast<double>(heads));
  }
  Rows scores(a.size(), Row(a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a.size(); ++j) {
      for (size_t h = 0; h < heads; ++h) {
        const double* key = keys[j].data() + (lightning ? 0 : h * width);
        const double dot = Dot(queries[i].data() + h * width, key, width);
        scores[i][j] += weights[i][h] * (lightning ? std::max(dot, 0.0) : dot) /
                        std::sqrt(static_cast<double>(width));
      }
    }
  }
  return scores;
}

// Empty: all up to the row.
std::set<int> PlainMiniLlm::Keep(const Row& scores, size_t row, size_t prompt, Trace& trace) const {
  const auto most = static_cast<size_t>(config_.index.kept);
  if (sparse_ == Sparse::kCausal) {
    if (row < most) return {};
    return Largest(Row(scores.begin(), scores.begin() + static_cast<ptrdiff_t>(row) + 1), most,
                   &trace.margin);
  }
  if (row >= prompt || most >= prompt) return {};
  return Largest(Row(scores.begin(), scores.begin() + static_cast<ptrdiff_t>(prompt)), most,
                 &trace.margin);
}

Rows PlainMiniLlm::Attention(int number, const Rows& a, const Angles& angles, size_t prompt,
                             Trace& trace) const {
  const std::string layer = LayerName(number);
  std::vector<std::set<int>>& kept = trace.kept[static_cast<size_t>(number)];
  const Config& c = config_;
  const auto nope = static_cast<size_t>(c.nope_width), rope = static_cast<size_t>(c.rope_width);
  const auto values = static_cast<size_t>(c.value_width), rank = static_cast<size_t>(c.kv_rank);
  const auto heads = static_cast<size_t>(c.num_heads);
  const Latents l = Project(layer, a, angles);
  const Row& kv_b = T(layer + "self_attn.kv_b_proj.weight").values;
  double scale = 1 / std::sqrt(static_cast<double>(nope + rope));
  if (c.rotary.scaling == RotaryConfig::Scaling::kYarn && c.rotary.mscale_all_dim != 0) {
    scale *= std::pow(Temperature(c.rotary.factor, c.rotary.mscale_all_dim), 2);
  }
  const Rows index = sparse_ == Sparse::kOff ? Rows() : IndexScores(layer, a, l, angles);
  kept.assign(a.size(), {});
  Rows results;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!index.empty()) kept[i] = Keep(index[i], i, prompt, trace);
    std::vector<size_t> keys(kept[i].begin(), kept[i].end());
    if (keys.empty()) {
      keys.resize(i + 1);
      std::iota(keys.begin(), keys.end(), 0);
    }
    Row all;
    for (size_t h = 0; h < heads; ++h) {
      const double* up = kv_b.data() + h * (nope + values) * rank;  // keys' rows, then values'
      const double* q = l.q[i].data() + h * (nope + rope);
      Row scores;
      for (const size_t j : keys) {
        double score = Dot(q + nope, l.k[j].data(), rope);
        for (size_t d = 0; d < nope; ++d) score += q[d] * Dot(up + d * rank, l.c[j].data(), rank);
        scores.push_back(j > i ? kMasked : score * scale);
      }
      const Row p = Softmax(scores);
      for (size_t d = 0; d < values; ++d) {
        double sum = 0;
        for (size_t n = 0; n < keys.size(); ++n) {
          sum += p[n] * Dot(up + (nope + d) * rank, l.c[keys[n]].data(), rank);
        }
        all.push_back(sum);
      }
    }
    results.push_back(Linear(layer + "self_attn.o_proj", all));
  }
  return results;
}

Row PlainMiniLlm::Mlp(const std::string& name, const Row& a, const std::string& other) const {
  const auto of = [&](const char* part) { return other.empty() ? "" : other + part; };
  const Row gate = Linear(name + ".gate_proj", a, of(".gate_proj"));
  Row inner = Linear(name + ".up_proj", a, of(".up_proj"));
  for (size_t i = 0; i < inner.size(); ++i) {
    const double g = gate[i];
    inner[i] *= config_.activation == Activation::kSilu ? g / (1 + std::exp(-g))
                                                        : std::pow(std::max(g, 0.0), 2);
  }
  return Linear(name + ".down_proj", inner, of(".down_proj"));
}

Row PlainMiniLlm::Experts(const std::string& layer, const Row& a, Trace& trace) const {
  const RouterConfig& r = config_.router;
  Row scores = Linear(layer + "mlp.gate", a);
  if (r.scoring == RouterConfig::Scoring::kSoftmax) {
    scores = Softmax(scores);
  } else {
    for (double& s : scores) s = 1 / (1 + std::exp(-s));
  }
  Row compared = scores;
  if (r.correction_bias) {
    const Row& bias = T(layer + "mlp.gate.e_score_correction_bias").values;
    for (size_t e = 0; e < compared.size(); ++e) compared[e] += bias[e];
  }
  if (r.kept_groups < r.groups) {
    compared = InKeptGroups(r, compared, &trace.margin);
  }
  const std::set<int> chosen = Largest(compared, static_cast<size_t>(r.per_token), &trace.margin);
  double sum = 0;
  for (const int e : chosen) sum += scores[static_cast<size_t>(e)];
  Row y(a.size());
  for (const int e : chosen) {
    const double weight =
        scores[static_cast<size_t>(e)] / (r.normalise ? std::max(sum, r.least_sum) : 1) * r.scale;
    const Row one = Mlp(layer + "mlp.experts." + std::to_string(e), a);
    for (size_t i = 0; i < y.size(); ++i) y[i] += weight * one[i];
  }
  if (config_.shared_experts > 0) {
    const Row shared = Mlp(layer + "mlp.shared_expert", a, layer + "mlp.shared_experts");
    for (size_t i = 0; i < y.size(); ++i) y[i] += shared[i];
  }
  return y;
}

Rows PlainMiniLlm::Forward(const std::vector<TokenId>& ids, const std::vector<int32_t>& positions,
                           size_t prompt, Trace* trace) const {
  std::vector<int32_t> places = positions;
  if (places.empty()) {
    places.resize(ids.size());
    std::iota(places.begin(), places.end(), 0);
  }
  const Angles angles = AnglesOf(places);
  Rows x;
  const Row& table = T("model.embed_tokens.weight").values;
  const auto width = static_cast<ptrdiff_t>(config_.hidden_size);
  for (const TokenId id : ids) {
    x.emplace_back(table.begin() + id * width, table.begin() + (id + 1) * width);
  }
  Trace ignored;
  Trace& seen = trace != nullptr ? *trace : ignored;
  seen.kept.resize(static_cast<size_t>(config_.num_layers));
  for (int n = 0; n < config_.num_layers; ++n) {
    const std::string number = std::to_string(n);
    const std::string layer = LayerName(n);
    const double scale = config_.residual_scale * std::exp(-config_.residual_decay * n);
    const auto add = [&](const Rows& branch) {
      for (size_t r = 0; r < x.size(); ++r) {
        for (size_t i = 0; i < x[r].size(); ++i) x[r][i] += scale * branch[r][i];
      }
    };
    const auto normed = [&](const char* name) {
      Rows rows;
      for (const Row& row : x) rows.push_back(Rms(layer + name, row, config_.norm_eps));
      return rows;
    };
    add(seen.stages["attn" + number] =
            Attention(n, normed("input_layernorm"), angles, prompt, seen));
    Rows& mlp = seen.stages["mlp" + number];
    for (const Row& row : normed("post_attention_layernorm")) {
      mlp.push_back(config_.HasExperts(n) ? Experts(layer, row, seen) : Mlp(layer + "mlp", row));
    }
    add(mlp);
    seen.stages["layer" + number] = x;
  }
  for (Row& row : x) row = Rms("model.norm", row, config_.norm_eps);
  seen.stages["hidden"] = x;
  return x;
}

Row PlainMiniLlm::Logits(const Row& hidden) const {
  const bool tied = config_.tie_word_embeddings;
  Row logits = Linear(tied ? "model.embed_tokens" : "lm_head", hidden);
  const double cap = config_.logit_softcap;
  if (cap != 0) {
    for (double& x : logits) x = cap * std::tanh(x / cap);
  }
  return logits;
}

}  // namespace platen::testing
