// The small network against a reference that torch's autograd computed in double
// (tests/golden/mtp_training/seed002), in float and in double.

#include <gtest/gtest.h>

#include "model/training/from_scratch/mtp_trainer.h"
#include "tests/support/packed_golden.h"

namespace platen::testing {
namespace {

constexpr const char* kVariants[] = {"causal.corrected", "causal.seed_rule",
                                     "independent.corrected", "independent.seed_rule"};

MtpTask TaskOf(const GoldenCase& golden, const std::string& variant) {
  MtpTask task;
  task.sizes.vocabulary = golden.json["V"].get<int64_t>();
  task.sizes.length = golden.json["T"].get<int64_t>();
  task.sizes.width = golden.json["d"].get<int64_t>();
  task.sizes.inner = golden.json["ff"].get<int64_t>();
  task.sizes.depths = golden.json["depths"].get<int>();
  task.heads = variant.starts_with("causal") ? MtpHeads::kCausal : MtpHeads::kIndependent;
  task.target = variant.ends_with("corrected") ? MtpTarget::kNext : MtpTarget::kFed;
  return task;
}

template <class T>
const char* Atol() {
  return kIsDouble<T> ? "atol_f64" : "atol";
}

TokenBatch TokensOf(const GoldenCase& golden) {
  const Npy tokens = golden.Array("tokens");
  return {tokens.shape[0], tokens.shape[1], {tokens.i64.begin(), tokens.i64.end()}};
}

// Logits [B, places, D, V] and targets [B, places, D] of one forward pass.
template <class T>
void ExpectForward(const GoldenCase& golden, const std::string& variant, MtpTrainer<T>& trainer) {
  const TokenBatch batch = TokensOf(golden);
  const MtpTask& task = trainer.net().task();
  const int depths = task.sizes.depths;
  MtpNet<T> net(trainer.shape(), task);
  net.Forward(trainer.parameters(), batch);
  const Npy targets = golden.Array(variant + ".targets");
  EXPECT_EQ(targets.shape, (std::vector<int64_t>{batch.count, task.places(), depths}));
  std::vector<T> logits;
  for (int64_t r = 0; r < batch.count * task.places(); ++r) {
    for (int k = 0; k < depths; ++k) {
      EXPECT_EQ(LabelsOf(task, batch, k)[static_cast<size_t>(r)],
                targets.i64[static_cast<size_t>(r * depths + k)]);
      const T* row = net.Logits(k).Row(r);
      logits.insert(logits.end(), row, row + task.sizes.vocabulary);
    }
  }
  EXPECT_TRUE(Near<T>(logits, Wide(golden.Array(variant + ".logits")),
                      golden.json["arrays"][variant + ".logits"][Atol<T>()].template get<double>()))
      << variant;
}

template <class T>
void ExpectNumber(double actual, const nlohmann::json& number, const std::string& what) {
  EXPECT_NEAR(actual, number["value"].get<double>(), number[Atol<T>()].template get<double>())
      << what;
}

// Nothing depends on what a single key is compared with.
template <class T>
void ExpectNoQueryNorKeyGradient(const MtpTrainer<T>& trainer, const Parameters<T>& parameters) {
  const Affine& value = trainer.shape().block.value;
  const auto d = static_cast<size_t>(value.weight.rows);
  for (const auto& [tensor, columns] : {std::pair{value.weight.tensor, d}, {value.bias, 1UL}}) {
    const auto unused = parameters.gradient(tensor).first(2 * d * columns);
    EXPECT_TRUE(std::all_of(unused.begin(), unused.end(), [](T g) { return g == 0; }));
  }
}

template <class T>
void ExpectShapes(const std::string& variant) {
  const GoldenCase golden("tests/golden/mtp_training/seed002/shapes");
  const auto& json = golden.json["variants"][variant];
  const TokenBatch batch = TokensOf(golden);
  MtpTrainer<T> trainer(TaskOf(golden, variant), DepthWeights::Equal(3),
                        golden.json["init_seed"].get<uint64_t>());
  Parameters<T>& parameters = trainer.parameters();
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    EXPECT_EQ(parameters.shape().tensors[t].name,
              golden.json["packed"]["init"]["parts"][t]["name"].get<std::string>());
  }
  ExpectForward(golden, variant, trainer);
  ExpectNumber<T>(trainer.AddGradient(batch), json["total"], variant);
  ExpectPacked<T>(golden, variant + ".gradient",
                  [&](size_t t) { return std::as_const(parameters).gradient(t); });
  ExpectNoQueryNorKeyGradient(trainer, parameters);
  const MtpScore score = trainer.Score(batch);
  for (size_t k = 0; k < 3; ++k) ExpectNumber<T>(score.loss[k], json["per_depth"][k], variant);
  for (const auto& expected : json["loss_before_each_adam_step"]) {
    ExpectNumber<T>(trainer.Step(batch, 0.01), expected, variant);
  }
  ExpectPacked<T>(golden, variant + ".step6",
                  [&](size_t t) { return std::as_const(parameters).values(t); });
}

TEST(MtpGoldenTest, LogitsGradientsAndSixStepsInFloat) {
  for (const char* variant : kVariants) ExpectShapes<float>(variant);
}

TEST(MtpGoldenTest, LogitsGradientsAndSixStepsInDouble) {
  for (const char* variant : kVariants) ExpectShapes<double>(variant);
}

std::unique_ptr<TokenSource> SourceOf(const GoldenCase& golden, const std::string& kind) {
  const auto& json = golden.json;
  const auto vocabulary = json["V"].get<int64_t>(), length = json["T"].get<int64_t>();
  const auto seed = json["seeds"]["train"][0].get<uint64_t>();
  if (kind == "iid") return std::make_unique<RandomTokens>(vocabulary, length, seed);
  return std::make_unique<TableTokens>(
      RandomTable(vocabulary, json["seeds"]["table"].get<uint64_t>()), vocabulary, length, seed);
}

template <class T>
void ExpectStart(const std::string& kind, const std::string& variant) {
  const GoldenCase golden("tests/golden/mtp_training/seed002/curves");
  const std::string key = kind + "." + variant;
  const auto& json = golden.json["arrays"][key + ".loss"];
  const std::vector<double> expected = Wide(golden.Array(key + ".loss"));
  const std::unique_ptr<TokenSource> source = SourceOf(golden, kind);
  MtpTrainer<T> trainer(TaskOf(golden, variant), DepthWeights::Equal(3),
                        golden.json["seeds"]["init"][0].get<uint64_t>());
  for (size_t step = 0; step < expected.size(); ++step) {
    const double atol =
        kIsDouble<T> ? json["atol_f64"].get<double>() : json["atol_by_step"][step].get<double>();
    EXPECT_NEAR(trainer.Step(source->Next(16), 3e-3), expected[step], atol)
        << key << " step " << step + 1;
  }
  if (variant != "causal.corrected") return;
  ExpectPacked<T>(golden, key + ".step50",
                  [&](size_t t) { return std::as_const(trainer.parameters()).values(t); });
}

TEST(MtpGoldenTest, FirstFiftyStepsOfEveryExperimentInFloat) {
  for (const char* kind : {"iid", "order2"}) {
    for (const char* variant : kVariants) ExpectStart<float>(kind, variant);
  }
}

TEST(MtpGoldenTest, FirstFiftyStepsOfEveryExperimentInDouble) {
  for (const char* kind : {"iid", "order2"}) {
    for (const char* variant : kVariants) ExpectStart<double>(kind, variant);
  }
}

TEST(MtpGoldenTest, SequencesAreThoseOfTheReference) {
  const GoldenCase golden("tests/golden/mtp_training/seed002/curves");
  for (const char* kind : {"iid", "order2"}) {
    const Npy expected = golden.Array(std::string(kind) + ".tokens");  // [steps, 16, T]
    const TokenBatch all = SourceOf(golden, kind)->Next(expected.shape[0] * expected.shape[1]);
    EXPECT_TRUE(std::equal(all.ids.begin(), all.ids.end(), expected.u8.begin(), expected.u8.end()))
        << kind;
  }
  const Npy table = golden.Array("table");
  const std::vector<TokenId> ours =
      RandomTable(golden.json["V"].get<int64_t>(), golden.json["seeds"]["table"].get<uint64_t>());
  EXPECT_TRUE(std::equal(ours.begin(), ours.end(), table.i64.begin(), table.i64.end()));
}

}  // namespace
}  // namespace platen::testing
