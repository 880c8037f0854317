// Every gradient against finite differences in double, on random small drafts of all kinds.

#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "model/ops/parallel.h"
#include "model/training/batch_gradient.h"

namespace platen::testing {
namespace {

constexpr int64_t kWidth = 12, kVocab = 17, kLength = 9, kPrompt = 4;

struct Variant {
  std::string name;
  bool chain = true;
  bool latent = false;
  bool q_bottleneck = false;
  bool biases = false;
  bool experts = false;
  bool normalise = false;
  bool sandwich = false;
  bool adjacent = false;
  Activation activation = Activation::kSilu;
  ChainOn chain_on = ChainOn::kNormed;
  Labels labels = Labels::kHard;
  double softcap = 0;
  int steps = 3;
  int64_t prompt = kPrompt;
  bool vocabulary = false;
  bool mask = false;
};

DraftAttention AttentionOf(const Variant& v, DraftShapeBuilder& builder) {
  DraftAttention a;
  a.heads = 4;
  a.kv_heads = v.latent ? 4 : 2;
  a.plain_width = v.latent ? 3 : 0;
  a.rotary_width = v.latent ? 4 : 6;
  a.value_width = v.latent ? 5 : 6;
  a.scale = 0.41;
  a.adjacent_pairs = v.adjacent;
  for (int i = 0; i < a.rotary_width / 2; ++i) {
    a.frequencies.push_back(std::pow(30.0, -i / 3.0));
    a.axis.push_back(i % 3);
  }
  a.rotary_factor = 1.1;
  if (!v.latent) {
    a.q = builder.AddMatrix("q", 4 * 6, kWidth);
    a.k = builder.AddMatrix("k", 2 * 6, kWidth);
    a.v = builder.AddMatrix("v", 2 * 6, kWidth);
    a.output = builder.AddMatrix("o", kWidth, 4 * 6);
    return a;
  }
  DraftAttention::Latent latent;
  latent.eps = 1e-6;
  if (v.q_bottleneck) {
    latent.q_a = builder.AddMatrix("q_a", 8, kWidth);
    latent.q_norm = builder.AddVector("q_norm", 8);
  }
  if (v.biases) {
    latent.q_a_bias = builder.AddVector("q_bias", v.q_bottleneck ? 8 : 4 * 7);
    latent.kv_a_bias = builder.AddVector("kv_bias", 7 + 4);
    latent.output_bias = builder.AddVector("o_bias", kWidth);
  }
  a.q = builder.AddMatrix("q", 4 * 7, v.q_bottleneck ? 8 : kWidth);
  latent.kv_a = builder.AddMatrix("kv_a", 7 + 4, kWidth);
  latent.kv_norm = builder.AddVector("kv_norm", 7);
  latent.kv_b = builder.AddMatrix("kv_b", 4 * (3 + 5), 7);
  a.output = builder.AddMatrix("o", kWidth, 4 * 5);
  a.latent = latent;
  return a;
}

DraftShape ShapeOf(const Variant& v) {
  if (!v.chain) {
    DraftShape shape = ResidualHeadsShape(v.steps, kWidth, 10, 1e-5, v.activation);
    shape.logit_softcap = v.softcap;
    return shape;
  }
  DraftShape shape;
  shape.hidden_size = kWidth;
  shape.norm_eps = 1e-5;
  shape.logit_softcap = v.softcap;
  DraftShapeBuilder builder(shape, "");
  DraftChain chain;
  chain.enorm = builder.AddVector("enorm", kWidth);
  chain.hnorm = builder.AddVector("hnorm", kWidth);
  chain.eh_proj = builder.AddMatrix("eh", kWidth, 2 * kWidth);
  chain.input_norm = builder.AddVector("n1", kWidth);
  chain.attention = AttentionOf(v, builder);
  if (v.sandwich) chain.attention_branch_norm = builder.AddVector("n2", kWidth);
  chain.mlp_norm = builder.AddVector("n3", kWidth);
  if (v.experts) {
    DraftExperts experts;
    experts.router = builder.AddMatrix("router", 5, kWidth);
    for (int e = 0; e < 5; ++e) {
      experts.experts.push_back(builder.AddMlp("e" + std::to_string(e) + ".", 6, v.activation));
    }
    experts.shared = builder.AddMlp("shared.", 7, v.activation);
    experts.normalise = v.normalise;
    experts.scale = 1.7;
    // Which experts a row has must not change within a finite difference.
    experts.choose = [](std::span<const float> logits, std::span<const float>) {
      const int first = logits[0] > logits[1] ? 0 : 1;
      return std::vector<int>{first, 3};
    };
    chain.experts = experts;
  } else {
    chain.mlp = builder.AddMlp("mlp.", 10, v.activation);
  }
  if (v.sandwich) chain.mlp_branch_norm = builder.AddVector("n4", kWidth);
  chain.head_norm = builder.AddVector("n5", kWidth);
  shape.chain = chain;
  return shape;
}

class Fixture {
 public:
  Fixture(const Variant& v, uint64_t seed) : variant_(v), shape_(ShapeOf(v)), random_(seed) {
    head_values_ = Normal(kVocab * kWidth, 0.6F);
    head_ = {.name = "head",
             .dtype = DType::kF32,
             .shape = {kVocab, kWidth},
             .bytes = std::as_bytes(std::span(head_values_)),
             .file = "",
             .file_offset = 0};
    table_ = Normal(kVocab * kWidth, 1);
    for (const int64_t length : {kLength, kLength - 3}) pages_.push_back(MakePage(length));
    objective_.step_weights = DecayingStepWeights(v.steps);
    objective_.labels = v.labels;
    objective_.use_mask = v.mask;
    if (v.vocabulary) objective_.vocabulary = {0, 2, 3, 5, 7, 8, 9, 11, 13, 16};
  }

  template <class T>
  Parameters<T> MakeParameters() {
    Parameters<T> p(shape_);
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (size_t t = 0; t < shape_.tensors.size(); ++t) {
      const DraftTensor& tensor = shape_.tensors[t];
      for (T& value : p.values(t)) {
        const float x = normal(random);
        value =
            static_cast<T>(tensor.is_matrix() ? x / std::sqrt(static_cast<float>(tensor.columns()))
                                              : 1 + 0.2F * x);
      }
    }
    return p;
  }

  template <class T>
  BatchLoss Run(Parameters<T>& p, bool gradients) {
    const FrozenHead<T> head(head_, shape_.logit_softcap, objective_.vocabulary);
    BatchGradient<T> batch(p, head, variant_.chain_on, [this](std::span<const TokenId> ids) {
      Matrix<T> rows(static_cast<int64_t>(ids.size()), kWidth);
      for (size_t i = 0; i < ids.size(); ++i) {
        const auto first = table_.begin() + static_cast<std::ptrdiff_t>(ids[i]) * kWidth;
        std::copy_n(first, kWidth, rows.Row(static_cast<int64_t>(i)));
      }
      return rows;
    });
    const TrainingPage* const pages[] = {&pages_[0], &pages_[1]};
    return gradients ? batch.Run(pages, objective_) : batch.Losses(pages, objective_);
  }

  const DraftShape& shape() const { return shape_; }

 private:
  std::vector<float> Normal(int64_t n, float scale) {
    std::normal_distribution<float> normal(0, scale);
    std::vector<float> values(static_cast<size_t>(n));
    for (float& value : values) value = normal(random_);
    return values;
  }

  TrainingPage MakePage(int64_t length) {
    TrainingPage page;
    page.prompt = variant_.prompt;
    for (int64_t i = 0; i < length; ++i) {
      page.ids.push_back(static_cast<TokenId>(random_() % kVocab));
      // Positions with ties, as image slots have them.
      page.positions[0].push_back(static_cast<int32_t>(std::min<int64_t>(i, 3)));
      page.positions[1].push_back(static_cast<int32_t>(i));
      page.positions[2].push_back(static_cast<int32_t>(2 * i % 5));
      page.label_mask.push_back(i % 4 == 1 ? 0 : 1);
    }
    page.hidden.Resize(length - 1, kWidth);
    const std::vector<float> hidden = Normal((length - 1) * kWidth, 1);
    std::copy(hidden.begin(), hidden.end(), page.hidden.values().begin());
    page.teacher_width = 4;
    for (int64_t j = page.prompt; j < length; ++j) {
      for (int i = 0; i < 4; ++i) {
        page.teacher_ids.push_back(static_cast<TokenId>((5 * j + 3 * i) % kVocab));
        page.teacher_logits.push_back(4.0F - static_cast<float>(i));
      }
    }
    return page;
  }

  const Variant variant_;
  DraftShape shape_;
  std::mt19937_64 random_;
  std::vector<float> head_values_, table_;
  StoredTensor head_;
  std::vector<TrainingPage> pages_;
  Objective objective_;
};

class GradientCheck : public ::testing::TestWithParam<Variant> {};

TEST_P(GradientCheck, EveryTensorAgreesWithFiniteDifferences) {
  Fixture fixture(GetParam(), 11);
  Parameters<double> p = fixture.MakeParameters<double>();
  fixture.Run(p, true);
  constexpr double kStep = 1e-5;
  for (size_t t = 0; t < fixture.shape().tensors.size(); ++t) {
    const std::vector<double> gradient(p.gradient(t).begin(), p.gradient(t).end());
    double squares = 0, differences = 0;
    const size_t stride = std::max<size_t>(1, gradient.size() / 24);
    for (size_t i = 0; i < gradient.size(); i += stride) {
      double& value = p.values(t)[i];
      const double kept = value;
      value = kept + kStep;
      const double above = fixture.Run(p, false).total;
      value = kept - kStep;
      const double below = fixture.Run(p, false).total;
      value = kept;
      const double expected = (above - below) / (2 * kStep);
      squares += expected * expected;
      differences += (expected - gradient[i]) * (expected - gradient[i]);
    }
    EXPECT_LE(std::sqrt(differences), 1e-6 * std::sqrt(squares) + 1e-10)
        << fixture.shape().tensors[t].name;
  }
}

TEST_P(GradientCheck, FloatAgreesWithDouble) {
  Fixture fixture(GetParam(), 11);
  Parameters<double> exact = fixture.MakeParameters<double>();
  Parameters<float> rounded = fixture.MakeParameters<float>();
  fixture.Run(exact, true);
  fixture.Run(rounded, true);
  for (size_t t = 0; t < fixture.shape().tensors.size(); ++t) {
    double squares = 0, differences = 0;
    for (size_t i = 0; i < exact.gradient(t).size(); ++i) {
      const double e = exact.gradient(t)[i];
      const double d = e - static_cast<double>(rounded.gradient(t)[i]);
      squares += e * e;
      differences += d * d;
    }
    EXPECT_LE(std::sqrt(differences), 1e-4 * std::sqrt(squares) + 1e-7)
        << fixture.shape().tensors[t].name;
  }
}

// Not a bit depends on how many threads there are.
TEST_P(GradientCheck, TheNumberOfThreadsDoesNotMatter) {
  std::vector<std::vector<float>> gradients;
  for (const size_t threads : {size_t{1}, size_t{2}, size_t{7}}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    Fixture fixture(GetParam(), 11);
    Parameters<float> p = fixture.MakeParameters<float>();
    fixture.Run(p, true);
    std::vector<float>& all = gradients.emplace_back();
    for (size_t t = 0; t < fixture.shape().tensors.size(); ++t) {
      all.insert(all.end(), p.gradient(t).begin(), p.gradient(t).end());
    }
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
}

std::vector<Variant> Variants() {
  const Variant grouped = {.name = "Grouped", .sandwich = true, .adjacent = true};
  const Variant latent = {.name = "Latent", .latent = true, .q_bottleneck = true};
  const Variant heads = {.name = "Heads", .chain = false};
  std::vector<Variant> all = {grouped, latent, heads};
  const auto add = [&](Variant v, const std::string& name, const auto& change) {
    v.name += name;
    change(v);
    all.push_back(v);
  };
  for (const int steps : {1, 2}) {
    add(grouped, "K" + std::to_string(steps), [&](Variant& v) { v.steps = steps; });
  }
  for (const Variant& v : {grouped, latent}) {
    add(v, "PreNorm", [](Variant& x) { x.chain_on = ChainOn::kPreNorm; });
    add(v, "Soft", [](Variant& x) { x.labels = Labels::kSoft; });
    add(v, "NoPromptRows", [](Variant& x) { x.prompt = 1; });
    add(v, "FewRows", [](Variant& x) { x.prompt = kLength - 5; });
  }
  add(grouped, "Vocabulary", [](Variant& v) { v.vocabulary = true; });
  add(grouped, "Mask", [](Variant& v) { v.mask = true; });
  add(grouped, "Halves", [](Variant& v) { v.adjacent = false; });
  add(latent, "FullQueries", [](Variant& v) { v.q_bottleneck = false; });
  add(latent, "Biases", [](Variant& v) { v.biases = true; });
  add(latent, "FullQueriesBiases", [](Variant& v) {
    v.q_bottleneck = false;
    v.biases = true;
  });
  add(latent, "Experts", [](Variant& v) { v.experts = true; });
  add(latent, "ExpertsNormalised", [](Variant& v) { v.experts = v.normalise = true; });
  add(heads, "Relu2", [](Variant& v) { v.activation = Activation::kRelu2; });
  add(heads, "Softcap", [](Variant& v) { v.softcap = 3; });
  add(heads, "Soft", [](Variant& v) { v.labels = Labels::kSoft; });
  return all;
}

INSTANTIATE_TEST_SUITE_P(Drafts, GradientCheck, ::testing::ValuesIn(Variants()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace platen::testing
