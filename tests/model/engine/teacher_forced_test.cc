// Teacher-forced logits are those of decoding.
#include "model/engine/teacher_forced.h"

#include <gtest/gtest.h>

#include "model/engine/sampler.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

class TeacherForced : public ::testing::TestWithParam<Precision> {};

TEST_P(TeacherForced, ChoosesWhatTheEngineChoseWithTheSameProbabilities) {
  const Model& model = GoldenModel("tiny-a", GetParam());
  for (const char* name : {"exif6", "two_images", "text_only"}) {
    Request request =
        GoldenRequest(model, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
    request.max_new_tokens = 20;
    request.ignore_stop = true;
    Engine engine(model, EngineOptions{});
    const std::unique_ptr<Sequence> decoded = RunToEnd(engine, std::move(request));
    const std::vector<TokenId> answer = Decided(*decoded);
    ASSERT_EQ(answer.size(), 20U);

    TeacherForcedPass pass(model);
    const ConstMatView hidden = pass.Hidden(*decoded, answer);
    ASSERT_EQ(hidden.rows, 20);
    // Two pieces: rows do not depend on each other.
    for (const int64_t first : {0, 10}) {
      const ConstMatView logits = pass.Logits(hidden.Rows(first, 10));
      for (int64_t i = 0; i < 10; ++i) {
        Mat row(1, logits.cols);
        std::copy_n(logits.Row(i), logits.cols, row.data());
        const Selection chosen = TokenSampler(model.kernels()).Sample({}, {}, row.View());
        const auto place = static_cast<size_t>(first + i);
        EXPECT_EQ(chosen.index, answer[place]) << name << " place " << place;
        EXPECT_EQ(chosen.probability, decoded->result.probabilities[place]) << name;
      }
    }
  }
}

TEST_P(TeacherForced, AnotherAnswerChangesWhatFollowsAndNothingBefore) {
  const Model& model = GoldenModel("tiny-a", GetParam());
  Engine engine(model, EngineOptions{});
  Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/gray"));
  request.max_new_tokens = 6;
  request.ignore_stop = true;
  const std::unique_ptr<Sequence> decoded = RunToEnd(engine, std::move(request));
  std::vector<TokenId> answer = Decided(*decoded);
  const auto rows_of = [&] {
    TeacherForcedPass pass(model);
    const ConstMatView hidden = pass.Hidden(*decoded, answer);
    std::vector<std::vector<float>> rows;
    for (int64_t i = 0; i < hidden.rows; ++i) {
      rows.emplace_back(hidden.Row(i), hidden.Row(i) + hidden.cols);
    }
    return rows;
  };
  const auto before = rows_of();
  answer[2] = answer[2] == 5 ? 6 : 5;
  const auto after = rows_of();
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i] == after[i], i <= 2) << i;
}

INSTANTIATE_TEST_SUITE_P(Precisions, TeacherForced,
                         ::testing::Values(Precision::kF32, Precision::kInt8),
                         [](const auto& tested) { return PrecisionName(tested.param); });

}  // namespace
}  // namespace platen::testing
