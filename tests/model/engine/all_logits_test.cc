// Logits of all positions, as platen forward --logits all writes them.
#include "model/engine/all_logits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/engine/forward.h"
#include "model/support/error.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

Request RequestOf(const Model& model, const std::string& name) {
  Request request =
      GoldenRequest(model, GoldenCase("tests/golden/cases/" + std::string("tiny-a/") + name));
  request.max_new_tokens = 6;
  request.ignore_stop = true;
  return request;
}

struct Dumped {
  ForwardResult result;
  Npy logits;       // [L, vocab]
  Npy logits_last;  // [vocab]
};

Dumped RunAll(const Model& model, Request request, std::vector<TokenId> answer = {}) {
  const TempFolder folder;
  ForwardOptions options;
  options.dump_dir = folder.path();
  options.dumped_logits = DumpedLogits::kAll;
  options.answer = std::move(answer);
  Dumped dumped;
  dumped.result = RunForward(model, std::move(request), options);
  dumped.logits = ReadNpy(folder / "logits.npy");
  dumped.logits_last = ReadNpy(folder / "logits_last.npy");
  return dumped;
}

std::vector<float> Row(const Npy& logits, int64_t row) {
  const int64_t vocab = logits.shape.at(1);
  const auto first = logits.f32.begin() + row * vocab;
  return {first, first + vocab};
}

class AllLogits : public ::testing::TestWithParam<Precision> {};

TEST_P(AllLogits, TheLastRowIsThatOfTheLastPromptToken) {
  const Model& model = GoldenModel("tiny-a", GetParam());
  for (const std::string name : {"exif6", "two_images", "text_only", "long"}) {
    Request request = RequestOf(model, name == "long" ? "text_only" : name);
    while (name == "long" &&
           request.task_text.size() < 1000) {  // more rows than are written at once
      request.task_text += request.task_text;
    }
    const Dumped dumped = RunAll(model, std::move(request));
    const auto length = static_cast<int64_t>(dumped.result.prompt.input_ids.size());
    ASSERT_EQ(dumped.logits.shape, (std::vector<int64_t>{length, 912})) << name;
    EXPECT_EQ(dumped.result.logits.positions, length);
    EXPECT_EQ(dumped.result.logits.vocab, 912);
    EXPECT_EQ(Row(dumped.logits, length - 1), dumped.logits_last.f32) << name;
  }
}

// A row has seen what stands before it and nothing else: prompts that begin alike have equal rows
// there. (No prompt ends inside another: all end with the template's last tokens.)
TEST_P(AllLogits, RowsDependOnWhatStandsBeforeThem) {
  const Model& model = GoldenModel("tiny-a", GetParam());
  Request longer = RequestOf(model, "text_only");
  Request shorter = longer;
  shorter.task_text.resize(shorter.task_text.size() / 2);
  const Dumped a = RunAll(model, std::move(longer));
  const Dumped b = RunAll(model, std::move(shorter));
  const auto& ids = a.result.prompt.input_ids;
  const auto& other = b.result.prompt.input_ids;
  const auto parted = std::mismatch(other.begin(), other.end(), ids.begin());
  const int64_t alike = parted.first - other.begin();
  ASSERT_GT(alike, 8);
  ASSERT_LT(alike, static_cast<int64_t>(other.size()));
  for (int64_t i = 0; i < alike; ++i) EXPECT_EQ(Row(a.logits, i), Row(b.logits, i)) << i;
  EXPECT_NE(Row(a.logits, alike), Row(b.logits, alike));
}

TEST_P(AllLogits, GoOnOverAnAnswerAsTheEngineWent) {
  const Model& model = GoldenModel("tiny-a", GetParam());
  const std::vector<TokenId> answer =
      RunAll(model, RequestOf(model, "exif6")).result.recognition.tokens;
  ASSERT_EQ(answer.size(), 6U);
  const Dumped dumped = RunAll(model, RequestOf(model, "exif6"), answer);
  const auto prompt = static_cast<int64_t>(dumped.result.prompt.input_ids.size());
  ASSERT_EQ(dumped.logits.shape[0], prompt + 6);
  EXPECT_EQ(Row(dumped.logits, prompt - 1), dumped.logits_last.f32);
  for (int64_t i = 0; i < 6; ++i) {
    const std::vector<float> row = Row(dumped.logits, prompt - 1 + i);
    EXPECT_EQ(std::max_element(row.begin(), row.end()) - row.begin(),
              answer[static_cast<size_t>(i)])
        << i;
  }
  std::vector<TokenId> other = answer;
  other[2] = other[2] == 5 ? 6 : 5;
  const Dumped changed = RunAll(model, RequestOf(model, "exif6"), other);
  for (int64_t i = 0; i < prompt + 6; ++i) {
    EXPECT_EQ(Row(dumped.logits, i) == Row(changed.logits, i), i < prompt + 2) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, AllLogits,
                         ::testing::Values(Precision::kF32, Precision::kInt8),
                         [](const auto& tested) { return PrecisionName(tested.param); });

// The reason of the Error that a run with these options ends with; empty: none.
std::string Refusal(const Model& model, const ForwardOptions& options, int* rounds = nullptr) {
  try {
    const ForwardResult result = RunForward(model, RequestOf(model, "text_only"), options);
    if (rounds != nullptr) *rounds = static_cast<int>(result.rounds.size());
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::kInput);
    return e.reason();
  }
}

TEST(AllLogitsLimit, IsTheLargestFileAllowedAndKnownBeforeTheRun) {
  const Model& model = GoldenModel("tiny-a");
  const TempFolder folder;
  ForwardOptions options;
  options.dump_dir = folder.path();
  options.dumped_logits = DumpedLogits::kAll;
  const int64_t length =
      GoldenCase("tests/golden/cases/tiny-a/text_only").json["prompt_len"].get<int64_t>();
  options.max_logits_bytes = length * 912 * 4 - 1;
  EXPECT_EQ(Refusal(model, options),
            "logits of " + std::to_string(length) + " positions and 912 ids need more than the " +
                std::to_string(options.max_logits_bytes) + " bytes allowed, which hold " +
                std::to_string(length - 1) +
                " positions; use a smaller image or a shorter text, or --logits last");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  options.max_logits_bytes += 1;
  EXPECT_EQ(Refusal(model, options), "");
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  options.answer = {5};
  EXPECT_NE(Refusal(model, options), "");
  options.dumped_logits = DumpedLogits::kLast;
  EXPECT_EQ(Refusal(model, options), "");
}

TEST(AllLogitsAnswer, HasIdsOfTheVocabulary) {
  const Model& model = GoldenModel("tiny-a");
  const TempFolder folder;
  ForwardOptions options;
  options.dump_dir = folder.path();
  options.dumped_logits = DumpedLogits::kAll;
  options.answer = {0, 911};
  EXPECT_EQ(Refusal(model, options), "");
  options.answer = {0, 912};
  EXPECT_EQ(Refusal(model, options), "the answer has the id 912, the model has 0..911");
  options.answer = {-1};
  EXPECT_EQ(Refusal(model, options), "the answer has the id -1, the model has 0..911");
}

}  // namespace
}  // namespace platen::testing
