// Losses, gradients and optimiser steps against a reference that torch's autograd computed in
// double (tests/golden/mtp_training), in float and in double.

#include <gtest/gtest.h>

#include "model/training/chain_graph.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

// The tensors of the shape in the order of the golden's.
template <class T>
std::vector<size_t> Order(const TrainingGolden& golden, const Parameters<T>& parameters) {
  std::vector<size_t> order;
  const std::string prefix = golden.json().value("prefix", "");
  for (const auto& name : golden.json()["tensors"]) {
    for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
      if (parameters.shape().tensors[t].name == prefix + name.get<std::string>()) {
        order.push_back(t);
      }
    }
  }
  EXPECT_EQ(order.size(), golden.json()["tensors"].size());
  return order;
}

struct Case {
  const char* folder;
  const char* key;
};

template <class T>
void ExpectObjective(TrainingGolden& golden, const std::string& key) {
  const auto& json = golden.json()["objectives"][key];
  golden.shape().logit_softcap = json.value("softcap", 0.0);
  Parameters<T> parameters = golden.MakeParameters<T>();
  const Objective objective = golden.ObjectiveOf(json);
  const FrozenHead<T> head(golden.head(), golden.shape().logit_softcap, objective.vocabulary);
  BatchGradient<T> gradient(parameters, head, TrainingGolden::ChainOf(json), golden.Embed<T>());
  const BatchLoss loss = gradient.Run(golden.AllPages(), objective);

  const char* atol = kIsDouble<T> ? "atol_f64" : "atol";
  EXPECT_NEAR(loss.total, json["total"]["value"].get<double>(), json["total"][atol].get<double>());
  std::vector<double> rows;
  for (size_t d = 0; d < loss.of_step.size(); ++d) {
    EXPECT_EQ(static_cast<double>(loss.counts[d]), json["N"][d].get<double>());
    EXPECT_NEAR(loss.of_step[d], json["per_step"][d]["value"].get<double>(),
                json["per_step"][d][atol].get<double>());
  }
  for (const auto& page : loss.rows) {
    for (const auto& step : page) rows.insert(rows.end(), step.loss.begin(), step.loss.end());
  }
  const auto& stored = golden.json()["arrays"][key + ".row_loss"];
  const std::vector<double> expected = golden.Values(key + ".row_loss");
  const std::vector<double> counts = golden.Values(key + ".weight");
  ASSERT_EQ(rows.size(), expected.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (counts[i] == 0) continue;  // of a label outside the vocabulary there is no loss to compare
    EXPECT_NEAR(rows[i], expected[i], stored[atol].get<double>()) << "row " << i;
  }
  const std::vector<size_t> order = Order(golden, parameters);
  ExpectPacked<T>(golden.golden(), key + ".gradient",
                  [&](size_t i) { return std::as_const(parameters).gradient(order[i]); });
  EXPECT_NEAR(GradientNorm(parameters), json["grad_norm"]["value"].get<double>(),
              json["grad_norm"][atol].get<double>());
}

class GoldenObjectiveTest : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenObjectiveTest, InFloat) {
  TrainingGolden golden(GetParam().folder);
  ExpectObjective<float>(golden, GetParam().key);
}

TEST_P(GoldenObjectiveTest, InDouble) {
  TrainingGolden golden(GetParam().folder);
  ExpectObjective<double>(golden, GetParam().key);
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::string(info.param.folder) + "_" + info.param.key;
  for (char& c : name) {
    if (c == '/' || c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenObjectiveTest,
    ::testing::Values(Case{"glm/tiny-a", "K3_n"}, Case{"glm/tiny-a", "K5_n"},
                      Case{"glm/tiny-a", "K3_u"}, Case{"glm/tiny-a", "K3_soft"},
                      Case{"glm/tiny-a", "K3_mask"}, Case{"glm/tiny-a", "K3_subset"},
                      Case{"glm/tiny-b", "K3_n"}, Case{"residual", "hard"},
                      Case{"residual", "soft"}, Case{"residual", "softcap"},
                      Case{"latent/moe-yarn", "K3_n"}, Case{"latent/dense-half", "K3_n"},
                      Case{"latent/dense-half", "K3_u"}),
    NameOf);

// Vectors that feed the head, their gradients (chain included), and those at the keys and values of
// step 0, page by page.
template <class T>
void ExpectInner(const char* folder) {
  TrainingGolden golden(folder);
  Parameters<T> parameters = golden.MakeParameters<T>();
  const auto& json = golden.json()["objectives"]["K3_n"];
  const Objective objective = golden.ObjectiveOf(json);
  const FrozenHead<T> head(golden.head(), 0);
  const char* atol = kIsDouble<T> ? "atol_f64" : "atol";
  for (size_t i = 0; i < golden.pages().size(); ++i) {
    const TrainingPage& page = golden.pages()[i];
    ChainGraph<T> graph(parameters, ChainOn::kNormed);
    GraphPage<T> given;
    const Matrix<T> embeddings = golden.Embed<T>()(page.ids);
    const Matrix<T> hidden = Converted<T>(page.hidden.View());
    given.prompt = page.prompt;
    given.embeddings = embeddings;
    given.hidden = hidden;
    for (size_t axis = 0; axis < 3; ++axis) given.positions[axis] = page.positions[axis];
    graph.Begin(given, 3, kRowsOfBlock);
    graph.Forward(0, RowsOfStep(page.prompt, page.length(), 0));
    std::vector<Matrix<T>> gradients;
    for (int d = 0; d < 3; ++d) {
      const ConstView<T> vectors = graph.Vectors(d);
      gradients.emplace_back(vectors.rows, vectors.cols);
      const double count = json["N"][static_cast<size_t>(d)].get<double>();
      LossOfRows<T>(head, vectors, page, objective, LabelsOf(page, objective, d),
                    objective.step_weights[static_cast<size_t>(d)] / count, gradients.back());
    }
    const std::vector<ConstView<T>> views(gradients.begin(), gradients.end());
    graph.Backward(views);
    const QkvRows<T>& step0 = graph.attention_gradients().steps[0];
    for (const bool keys : {true, false}) {
      const std::string name = "K3_n.page" + std::to_string(i) + (keys ? ".d_k0" : ".d_v0");
      const std::vector<double> expected = golden.Values(name);
      const auto& values = keys ? step0.k.values() : step0.v.values();
      // The last slot is seen by no row: there is none of it here, and 0 there.
      const size_t width = expected.size() / static_cast<size_t>(page.length() - 1);
      ASSERT_EQ(values.size() + width, expected.size());
      EXPECT_EQ(
          std::count(expected.end() - static_cast<std::ptrdiff_t>(width), expected.end(), 0.0),
          static_cast<std::ptrdiff_t>(width));
      EXPECT_TRUE(Near<T>(std::span<const T>(values), std::span(expected).first(values.size()),
                          golden.json()["arrays"][name][atol].get<double>()))
          << name;
    }
  }
}

TEST(GoldenTrainingTest, GradientsAtKeysAndValuesOfPromptSlots) {
  ExpectInner<float>("glm/tiny-a");
  ExpectInner<double>("glm/tiny-a");
  ExpectInner<float>("glm/tiny-b");
  ExpectInner<double>("glm/tiny-b");
}

Recipe RecipeOf(const nlohmann::json& json) {
  Recipe recipe;
  recipe.steps = json["steps"].get<int64_t>();
  recipe.warm_up = json["warmup"].get<int64_t>();
  recipe.peak_rate = json["peak"].get<double>();
  recipe.beta1 = json["beta1"].get<double>();
  recipe.beta2 = json["beta2"].get<double>();
  recipe.eps = json["eps"].get<double>();
  recipe.decay = json["decay"].get<double>();
  recipe.decay_to = json["decay_to"] == "start" ? Recipe::DecayTo::kStart : Recipe::DecayTo::kZero;
  recipe.clip = json["clip"].get<double>();
  return recipe;
}

template <class T>
void ExpectRun(const char* folder, const std::string& key) {
  TrainingGolden golden(folder);
  const auto& json = golden.json()["runs"][key];
  Parameters<T> parameters = golden.MakeParameters<T>();
  const Recipe recipe = RecipeOf(json["recipe"]);
  const Objective objective = golden.ObjectiveOf(json);
  const FrozenHead<T> head(golden.head(), golden.shape().logit_softcap);
  BatchGradient<T> gradient(parameters, head, TrainingGolden::ChainOf(json), golden.Embed<T>());
  AdamW<T> optimiser(recipe, parameters);
  const std::vector<size_t> order = Order(golden, parameters);
  const char* atol = kIsDouble<T> ? "atol_f64" : "atol";
  double rates = 0;
  for (int64_t step = 1; step <= recipe.steps; ++step) {
    const auto& log = json["log"][static_cast<size_t>(step - 1)];
    parameters.ClearGradients();
    const auto batch = json["batches"][static_cast<size_t>(step - 1)].get<std::vector<size_t>>();
    const BatchLoss loss = gradient.Run(golden.Pages(batch), objective);
    EXPECT_DOUBLE_EQ(RateOf(recipe, step), log["lr"].get<double>());
    rates += RateOf(recipe, step);
    EXPECT_NEAR(loss.total, log["loss"]["value"].get<double>(), log["loss"][atol].get<double>())
        << "step " << step;
    const double norm = optimiser.Step(parameters);
    EXPECT_NEAR(norm, log["grad_norm"]["value"].get<double>(), log["grad_norm"][atol].get<double>())
        << "step " << step;
    const std::string at = key + ".step" + std::to_string(step);
    if (!golden.json()["packed"].contains(at)) continue;
    // An element whose gradient is below the noise of floats takes full steps of either sign where
    // epsilon is small: the reference lets a few of them go (tests/golden/mtp_training/README.md).
    const bool noisy = !kIsDouble<T> && recipe.eps < 1e-7;
    ExpectPacked<T>(
        golden.golden(), at, [&](size_t i) { return std::as_const(parameters).values(order[i]); },
        noisy ? 2 * rates : 0);
  }
}

class GoldenRunTest : public ::testing::TestWithParam<Case> {};

TEST_P(GoldenRunTest, InFloat) { ExpectRun<float>(GetParam().folder, GetParam().key); }
TEST_P(GoldenRunTest, InDouble) { ExpectRun<double>(GetParam().folder, GetParam().key); }

INSTANTIATE_TEST_SUITE_P(All, GoldenRunTest,
                         ::testing::Values(Case{"glm/tiny-a", "adamw_n"},
                                           Case{"glm/tiny-a", "adamw_u"},
                                           Case{"glm/tiny-b", "adamw_n"}, Case{"residual", "adamw"},
                                           Case{"latent/moe-yarn", "adamw"},
                                           Case{"latent/dense-half", "adamw"}),
                         NameOf);

}  // namespace
}  // namespace platen::testing
