// What the small network must and must not learn (docs/MTP.md). Every loss for guesses of tokens
// should be asked the same: can random tokens be learned with it?

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "model/training/from_scratch/mtp_trainer.h"

namespace platen {
namespace {

constexpr uint64_t kTableSeed = 6200, kStartSeed = 6210, kTrainSeed = 6220, kTestSeed = 6230;

enum class Data { kRandom, kTable };

std::unique_ptr<TokenSource> MakeSource(Data data, const MtpSizes& sizes, uint64_t seed) {
  if (data == Data::kRandom) {
    return std::make_unique<RandomTokens>(sizes.vocabulary, sizes.length, seed);
  }
  return std::make_unique<TableTokens>(RandomTable(sizes.vocabulary, kTableSeed), sizes.vocabulary,
                                       sizes.length, seed);
}

struct Outcome {
  MtpScore score;
  std::vector<double> weights;
};

Outcome Train(Data data, const MtpTask& task, const DepthWeights& weights, int64_t steps,
              uint64_t repeat = 0) {
  MtpTrainer<float> trainer(task, weights, kStartSeed + repeat);
  const auto source = MakeSource(data, task.sizes, kTrainSeed + repeat);
  for (int64_t step = 1; step <= steps; ++step) {
    trainer.Step(source->Next(16), MtpRate(step, steps, 3e-3));
  }
  const TokenBatch test = MakeSource(data, task.sizes, kTestSeed + repeat)->Next(400);
  return {trainer.Score(test), trainer.depth_weights()};
}

Outcome Train(Data data, MtpHeads heads, MtpTarget target, int64_t steps, uint64_t repeat = 0) {
  MtpTask task;
  task.heads = heads;
  task.target = target;
  return Train(data, task, DepthWeights::Equal(task.sizes.depths), steps, repeat);
}

double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}
double Most(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

TEST(MtpExperimentTest, RandomTokensStayAtChance) {
  for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
    const MtpScore score = Train(Data::kRandom, heads, MtpTarget::kNext, 100).score;
    EXPECT_LT(Most(score.accuracy), 0.10);
    EXPECT_GT(score.mean_loss(), 2.75);  // ln 16 = 2.7726
  }
}

TEST(MtpExperimentTest, RandomTokensAreLearnedIfTheAnswerIsInTheQuestion) {
  for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
    const MtpScore score = Train(Data::kRandom, heads, MtpTarget::kFed, 100).score;
    EXPECT_GT(Least(score.accuracy), 0.999);
    EXPECT_LT(score.mean_loss(), 0.05);
    EXPECT_GT(score.accepted, 2.99);
  }
}

TEST(MtpExperimentTest, AChainLearnsWhatIndependentHeadsCannot) {
  const auto causal = Train(Data::kTable, MtpHeads::kCausal, MtpTarget::kNext, 300).score;
  const auto independent = Train(Data::kTable, MtpHeads::kIndependent, MtpTarget::kNext, 300).score;
  EXPECT_GT(Least(causal.accuracy), 0.85);
  for (size_t k = 0; k < 3; ++k) EXPECT_GT(causal.accuracy[k] - independent.accuracy[k], 0.10);
  EXPECT_GT(causal.accepted, independent.accepted + 0.5);
}

// Logits of all depths after a token was changed, against those before: which rows differ.
std::vector<std::pair<int64_t, int>> RowsThatSee(int64_t place, MtpTask task) {
  MtpTrainer<double> trainer(task, DepthWeights::Equal(task.sizes.depths), 1);
  MtpNet<double> net(trainer.shape(), task);
  TokenBatch batch = RandomTokens(task.sizes.vocabulary, task.sizes.length, 2).Next(1);
  net.Forward(trainer.parameters(), batch);
  std::vector<Matrix<double>> before;
  for (int k = 0; k < task.sizes.depths; ++k) before.push_back(Converted<double>(net.Logits(k)));
  TokenId& id = batch.ids[static_cast<size_t>(place)];
  id = static_cast<TokenId>((id + 1) % task.sizes.vocabulary);
  net.Forward(trainer.parameters(), batch);
  std::vector<std::pair<int64_t, int>> rows;
  for (int64_t i = 0; i < task.places(); ++i) {
    for (int k = 0; k < task.sizes.depths; ++k) {
      const double* row = net.Logits(k).Row(i);
      if (!std::equal(row, row + task.sizes.vocabulary, before[static_cast<size_t>(k)].Row(i))) {
        rows.emplace_back(i, k);
      }
    }
  }
  return rows;
}

TEST(MtpExperimentTest, AGuessSeesItsPlaceAndTheTokensItIsTold) {
  for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
    MtpTask task;
    task.heads = heads;
    task.sizes.length = 10;
    for (int64_t place = 0; place < task.sizes.length; ++place) {
      std::vector<std::pair<int64_t, int>> expected;
      for (int64_t i = 0; i < task.places(); ++i) {
        for (int k = 0; k < task.sizes.depths; ++k) {
          const bool told = place == i + k + 1;
          const bool told_before = place > i && place <= i + k && heads == MtpHeads::kCausal;
          if (place == i || told || told_before) expected.emplace_back(i, k);
        }
      }
      EXPECT_EQ(RowsThatSee(place, task), expected) << "token " << place;
    }
  }
}

// What the experiments above show by training, without any.
TEST(MtpExperimentTest, NoGuessHasSeenItsLabel) {
  for (const MtpTarget target : {MtpTarget::kNext, MtpTarget::kFed}) {
    for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
      MtpTask task;
      task.heads = heads;
      task.target = target;
      for (int k = 0; k < task.sizes.depths; ++k) {
        const auto rows = RowsThatSee(5 + k + task.offset(), task);
        const bool seen = std::count(rows.begin(), rows.end(), std::pair{int64_t{5}, k}) > 0;
        EXPECT_EQ(seen, target == MtpTarget::kFed) << "depth " << k;
      }
    }
  }
}

// Places without a label at every depth are left out, at all depths.
TEST(MtpExperimentTest, TheLastLabelIsTheLastToken) {
  for (const MtpTarget target : {MtpTarget::kNext, MtpTarget::kFed}) {
    for (const int depths : {1, 2, 5}) {
      MtpTask task;
      task.target = target;
      task.sizes.depths = depths;
      task.sizes.length = depths + task.offset();
      EXPECT_EQ(task.places(), 1);
      task.sizes.length = 12;
      const TokenBatch batch = RandomTokens(16, 12, 3).Next(2);
      const std::vector<TokenId> last = LabelsOf(task, batch, depths - 1);
      EXPECT_EQ(static_cast<int64_t>(last.size()), 2 * task.places());
      EXPECT_EQ(last.back(), batch.at(1, 11));
      EXPECT_EQ(last.front(), batch.at(0, depths - 1 + task.offset()));
      EXPECT_EQ(LabelsOf(task, batch, 0).front(), batch.at(0, task.offset()));
    }
  }
}

TEST(MtpExperimentTest, AcceptedGuessesEndAtTheFirstWrongOne) {
  MtpTask task;
  MtpTrainer<float> trainer(task, DepthWeights::Equal(3), 4);
  const TokenBatch batch = RandomTokens(16, 16, 5).Next(300);
  double accepted = 0;
  const std::vector<MtpGuess> guesses = trainer.Guesses(batch);
  ASSERT_EQ(guesses.size(), static_cast<size_t>(300 * task.places() * 3));
  for (size_t row = 0; row < guesses.size(); row += 3) {
    for (size_t k = 0; k < 3 && guesses[row + k].guess == guesses[row + k].label; ++k) ++accepted;
  }
  EXPECT_GT(accepted, 0);
  EXPECT_NEAR(trainer.Score(batch).accepted,
              accepted / (300.0 * static_cast<double>(task.places())), 1e-12);
}

// Losses and gradients of other sizes, and of learned weights, by central differences.
TEST(MtpExperimentTest, GradientsAreThoseOfDifferences) {
  for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
    MtpTask task;
    task.heads = heads;
    task.sizes = {.vocabulary = 7, .length = 9, .width = 6, .inner = 5, .depths = 4};
    const DepthWeights weights = DepthWeights::Learned({0.4, 0.3, 0.2, 0.1}, 0.5);
    MtpTrainer<double> trainer(task, weights, 7);
    const TokenBatch batch = RandomTokens(7, 9, 8).Next(3);
    trainer.AddGradient(batch);
    Parameters<double>& p = trainer.parameters();
    for (size_t t = 0; t < p.shape().tensors.size(); ++t) {
      if (t == trainer.shape().depth_logits) continue;  // the loss leaves out their second term
      double square = 0, difference = 0;
      for (size_t i = 0; i < p.values(t).size(); ++i) {
        constexpr double kStep = 1e-5;
        const double gradient = p.gradient(t)[i], value = p.values(t)[i];
        MtpTrainer<double> twin(task, weights, 7);
        twin.parameters().values(t)[i] = value + kStep;
        const double above = twin.AddGradient(batch);
        twin.parameters().values(t)[i] = value - kStep;
        const double slope = (above - twin.AddGradient(batch)) / (2 * kStep);
        square += slope * slope;
        difference += (slope - gradient) * (slope - gradient);
      }
      EXPECT_LE(std::sqrt(difference), 1e-6 * std::sqrt(square)) << p.shape().tensors[t].name;
    }
  }
}

// The table of docs/MTP.md: with PLATEN_LONG_TESTS=1, half a minute.
TEST(MtpExperimentTest, TheWholeTable) {
  if (std::getenv("PLATEN_LONG_TESTS") == nullptr) GTEST_SKIP() << "PLATEN_LONG_TESTS is not set";
  constexpr int64_t kSteps = 1500;
  for (uint64_t repeat = 0; repeat < 3; ++repeat) {
    for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
      const auto random = Train(Data::kRandom, heads, MtpTarget::kNext, kSteps, repeat).score;
      EXPECT_GT(Least(random.accuracy), 0.0625 - 0.012);
      EXPECT_LT(Most(random.accuracy), 0.0625 + 0.012);
      EXPECT_NEAR(random.mean_loss(), 2.7726, 0.008);
      for (const Data data : {Data::kRandom, Data::kTable}) {
        const auto leak = Train(data, heads, MtpTarget::kFed, kSteps, repeat).score;
        EXPECT_GT(Least(leak.accuracy), 0.999);
        EXPECT_LT(leak.mean_loss(), 0.001);
      }
    }
    const auto chain =
        Train(Data::kTable, MtpHeads::kCausal, MtpTarget::kNext, kSteps, repeat).score;
    const auto heads =
        Train(Data::kTable, MtpHeads::kIndependent, MtpTarget::kNext, kSteps, repeat).score;
    EXPECT_NEAR(chain.mean_loss(), 0.36, 0.04);
    for (size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(chain.accuracy[k], 0.951, 0.010);
      EXPECT_LT(heads.accuracy[k], chain.accuracy[k] - 0.10);
    }
  }
}

// The weight goes to the depth that is ahead early, which need not be the first, and a guess counts
// only if those before it are right.
TEST(MtpExperimentTest, LearnedWeightsCollapseWithoutATemperature) {
  MtpTask task;
  task.heads = MtpHeads::kIndependent;  // whose depths differ
  const std::vector<double> equal = DepthWeights::Equal(3).prior;
  const Outcome cold = Train(Data::kTable, task, DepthWeights::Learned(equal, 0), 600);
  const Outcome warm = Train(Data::kTable, task, DepthWeights::Learned(equal, 1), 600);
  EXPECT_GT(Most(cold.weights), 0.85);
  EXPECT_LT(Most(warm.weights), 0.50);
  EXPECT_GT(Least(warm.weights), 0.20);
  EXPECT_GT(warm.score.accepted, cold.score.accepted + 0.3);
}

}  // namespace
}  // namespace platen
