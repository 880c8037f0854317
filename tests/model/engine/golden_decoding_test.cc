// Drafting, verification and stopping against runs of the reference implementation.
#include <gtest/gtest.h>

#include "tests/support/golden_rounds.h"

namespace platen::testing {
namespace {

constexpr const char* kSnapshots[] = {"tiny-a", "tiny-b", "tiny-c"};

GoldenCase CaseOf(const std::string& snapshot, const std::string& name) {
  return GoldenCase("tests/golden/cases/" + snapshot + "/" + name);
}

class GoldenDrafts
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(GoldenDrafts, PrefillHiddenLogitsAndDraftsOfEveryConventionAreEqual) {
  const auto [snapshot, name, convention] = GetParam();
  const Model& model = GoldenModel(snapshot);
  const GoldenCase golden(std::string("tests/golden/mtp/") + snapshot + "/" + name);
  Recorder recorder;
  EngineOptions options;
  options.draft_length = golden.json["k"].get<int>();
  options.instruments.full_drafts = true;
  options.instruments.mtp_convention = ParseMtpConvention(convention);
  options.instruments.observer = recorder.observer();
  std::vector<TokenId> drafts;
  options.instruments.on_round = [&](const Round& round) { drafts = round.drafts; };
  Engine engine(model, options);
  Request request = GoldenRequest(model, CaseOf(snapshot, name));
  request.ignore_stop = true;
  request.max_new_tokens = 3 + options.draft_length;  // more than a round decides
  const Sequence* sequence = Start(engine, std::move(request));
  engine.Step();

  EXPECT_EQ(Decided(*sequence)[0], golden.json["first_token"].get<TokenId>());
  EXPECT_EQ(drafts, Ids(golden.json["drafts"][convention]));
  // Our warm-up ends one slot early: the last slot is the first draft's.
  std::vector<float> prefill = recorder.arrays["mtp_prefill"];
  const std::vector<float>& hidden = recorder.arrays["mtp_hidden"];
  const auto width = static_cast<ptrdiff_t>(model.architecture().text().hidden_size);
  prefill.insert(prefill.end(), hidden.begin(), hidden.begin() + width);
  for (const auto& [part, ours] : {std::pair<std::string, std::vector<float>>{"prefill", prefill},
                                   {"hidden", hidden},
                                   {"logits", recorder.arrays["mtp_logits"]}}) {
    const std::string array = std::string(convention) + "." + part;
    const Npy expected = golden.Array(array);
    ASSERT_GE(ours.size(), expected.f32.size());
    EXPECT_TRUE(
        AllClose(std::span(ours).last(expected.f32.size()), expected.f32, golden.Atol(array)))
        << array;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenDrafts,
    ::testing::Combine(::testing::ValuesIn(kSnapshots),
                       ::testing::Values("exif6", "tall30x400", "text_only", "two_images"),
                       ::testing::Values("default", "chain_pre", "mask_position0", "image_vision",
                                         "rope_shift", "vllm_like")));

TEST(GoldenSpeculation, RunsAreEqualRoundByRound) {
  int runs = 0;
  for (const char* snapshot : kSnapshots) {
    const Model& model = GoldenModel(snapshot);
    const nlohmann::json all =
        ReadJson(std::string("tests/golden/mtp/") + snapshot + "/speculative.json");
    for (const auto& [name, run] : all.items()) {
      SCOPED_TRACE(std::string(snapshot) + " " + name);
      std::vector<Round> rounds;
      EngineOptions options;
      options.draft_length = run["k"].get<int>();
      options.instruments.full_drafts = true;
      options.kv_block_tokens = 16;
      options.instruments.on_round = [&](const Round& round) { rounds.push_back(round); };
      Engine engine(model, options);
      Request request = GoldenRequest(model, CaseOf(snapshot, run["case"].get<std::string>()));
      const bool stops = run.contains("stop_ids");
      const std::vector<TokenId> expected = Ids(run[stops ? "tokens_with_stop" : "tokens"]);
      if (stops) request.stop = Ids(run["stop_ids"]);
      request.ignore_stop = !stops;
      request.max_new_tokens = 32 + 1 + options.draft_length;
      const Decoded decoded =
          DecodeWithFullDrafts(engine, std::move(request), expected.size(), rounds);
      EXPECT_EQ(decoded.decided, expected);
      if (stops) {
        EXPECT_EQ(decoded.emitted, Ids(run["emitted"]));
        EXPECT_EQ(engine.live(), 0U) << "not stopped";
      }
      ExpectRoundsEqual(rounds, run["rounds"]);
      ++runs;
    }
  }
  EXPECT_GE(runs, 36);
}

TEST(GoldenGeneration, LimitsStopIdsAndRepetitionPenaltyAreEqual) {
  for (const char* snapshot : kSnapshots) {
    const Model& model = GoldenModel(snapshot);
    const nlohmann::json all =
        ReadJson(std::string("tests/golden/generation/") + snapshot + ".json");
    const GoldenCase golden = CaseOf(snapshot, all["case"].get<std::string>());
    for (const auto& run : all["runs"]) {
      for (const int draft_length : {0, 1, 4}) {
        SCOPED_TRACE(std::string(snapshot) + " " + run["name"].get<std::string>() +
                     " draft length " + std::to_string(draft_length));
        EngineOptions options;
        options.draft_length = draft_length;
        Engine engine(model, options);
        Request request = GoldenRequest(model, golden);
        request.max_new_tokens = run["max_new_tokens"].get<int>();
        request.sampling.repetition_penalty = run.value("repetition_penalty", 1.0F);
        request.stop = Ids(run["stop_ids"]);
        request.ignore_stop = request.stop.empty();
        const auto sequence = RunToEnd(engine, std::move(request));
        EXPECT_EQ(Decided(*sequence), Ids(run["tokens"]));
        EXPECT_EQ(sequence->result.tokens, Ids(run["emitted"]));
        EXPECT_EQ(sequence->result.finish == FinishReason::kStop, run["finish"] == "stop");
      }
    }
  }
}

}  // namespace
}  // namespace platen::testing
