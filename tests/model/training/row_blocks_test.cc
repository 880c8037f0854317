// A page goes through the trainer in blocks of rows: how many at once decides what is held, not
// what comes of it.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include "model/training/engine_draft.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

constexpr int64_t kBlocks[] = {1, 3, 7, 16};

template <class T>
struct Outcome {
  BatchLoss loss;
  std::vector<T> gradients;
};

template <class T>
std::vector<T> GradientsOf(const Parameters<T>& parameters) {
  std::vector<T> all;
  for (size_t t = 0; t < parameters.shape().tensors.size(); ++t) {
    const auto gradient = parameters.gradient(t);
    all.insert(all.end(), gradient.begin(), gradient.end());
  }
  return all;
}

template <class T>
Outcome<T> RunPages(TrainingGolden& golden, const char* key, int64_t rows_of_block,
                    typename BatchGradient<T>::Exact exact = {},
                    typename FrozenHead<T>::Exact logits = {}) {
  const auto& json = golden.json()["objectives"][key];
  Parameters<T> parameters = golden.MakeParameters<T>();
  const Objective objective = golden.ObjectiveOf(json);
  const FrozenHead<T> head(golden.head(), golden.shape().logit_softcap, objective.vocabulary,
                           std::move(logits));
  BatchGradient<T> gradient(parameters, head, TrainingGolden::ChainOf(json), golden.Embed<T>(),
                            std::move(exact));
  gradient.SetRowsOfBlock(rows_of_block);
  Outcome<T> outcome;
  outcome.loss = gradient.Run(golden.AllPages(), objective);
  outcome.gradients = GradientsOf(parameters);
  return outcome;
}

// Largest difference, as a share of the largest value.
template <class T>
double Difference(const std::vector<T>& a, const std::vector<T>& b) {
  EXPECT_EQ(a.size(), b.size());
  double most = 0, largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    largest = std::max(largest, std::abs(static_cast<double>(b[i])));
  }
  return most / largest;
}

struct Case {
  const char* folder;
  const char* key;
};

class RowBlocksTest : public ::testing::TestWithParam<Case> {};

TEST_P(RowBlocksTest, InDoubleTheSameToRounding) {
  TrainingGolden golden(GetParam().folder);
  const Outcome<double> whole = RunPages<double>(golden, GetParam().key, kRowsOfBlock);
  for (const int64_t rows : kBlocks) {
    const Outcome<double> parts = RunPages<double>(golden, GetParam().key, rows);
    EXPECT_NEAR(parts.loss.total, whole.loss.total, 1e-12) << rows;
    EXPECT_LT(Difference(parts.gradients, whole.gradients), 1e-12) << rows;
    ASSERT_EQ(parts.loss.rows.size(), whole.loss.rows.size());
    for (size_t p = 0; p < whole.loss.rows.size(); ++p) {
      for (size_t d = 0; d < whole.loss.rows[p].size(); ++d) {
        EXPECT_EQ(parts.loss.rows[p][d].hit, whole.loss.rows[p][d].hit);
        EXPECT_EQ(parts.loss.rows[p][d].loss.size(), whole.loss.rows[p][d].loss.size());
      }
    }
  }
}

TEST_P(RowBlocksTest, InFloatTheSameToRoundingWithAnyNumberOfThreads) {
  TrainingGolden golden(GetParam().folder);
  const Outcome<float> whole = RunPages<float>(golden, GetParam().key, kRowsOfBlock);
  for (const int64_t rows : kBlocks) {
    const Outcome<float> parts = RunPages<float>(golden, GetParam().key, rows);
    EXPECT_LT(Difference(parts.gradients, whole.gradients), 2e-5) << rows;
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_EQ(RunPages<float>(golden, GetParam().key, rows).gradients, parts.gradients) << rows;
  }
}

INSTANTIATE_TEST_SUITE_P(All, RowBlocksTest,
                         ::testing::Values(Case{"glm/tiny-a", "K3_n"}, Case{"glm/tiny-a", "K3_u"},
                                           Case{"glm/tiny-a", "K3_soft"},
                                           Case{"glm/tiny-a", "K3_mask"}, Case{"residual", "hard"},
                                           Case{"latent/moe-yarn", "K3_n"},
                                           Case{"latent/dense-half", "K3_u"}));

// The losses are those of the engine's vectors: the same bits, whatever goes together.
TEST(RowBlocksOfTheEngineTest, GiveTheSameBits) {
  TrainingGolden golden("glm/tiny-a");
  const Snapshot snapshot = golden.MakeBareSnapshot();
  Parameters<float> parameters = golden.MakeParameters<float>();
  EngineDraft draft(snapshot, golden.shape(), BestKernels(), Precision::kF32);
  draft.Load(parameters);
  const auto exact = [&](const TrainingPage& page, std::vector<Matrix<float>>& vectors) {
    draft.Vectors(page, 3, vectors);
  };
  const auto logits = [&](ConstView<float> x, View<float> out) { draft.Logits(x, out); };
  const Outcome<float> whole = RunPages<float>(golden, "K3_n", kRowsOfBlock, exact, logits);
  for (const int64_t rows : kBlocks) {
    draft.SetRowsOfBlock(rows);
    const Outcome<float> parts = RunPages<float>(golden, "K3_n", rows, exact, logits);
    EXPECT_EQ(parts.loss.total, whole.loss.total) << rows;
    for (size_t p = 0; p < whole.loss.rows.size(); ++p) {
      for (size_t d = 0; d < 3; ++d) {
        EXPECT_EQ(parts.loss.rows[p][d].loss, whole.loss.rows[p][d].loss) << rows;
      }
    }
    const Matrix<float> first = draft.FirstStep(golden.pages()[0]);
    draft.SetRowsOfBlock(kRowsOfBlock);
    EXPECT_EQ(first.values(), draft.FirstStep(golden.pages()[0]).values()) << rows;
  }
}

}  // namespace
}  // namespace platen::testing
