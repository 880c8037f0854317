// Drafts by the family's own heads and layer, against the reference's arrays and traces.
#include <gtest/gtest.h>

#include "tests/support/golden_rounds.h"
#include "tests/support/minillm.h"

namespace platen::testing {
namespace {

std::string Folder(const std::string& name) { return "tests/golden/minillm/" + name; }

// Every run of speculative.json through the engine.
void ExpectRunsEqual(const std::string& name) {
  const auto model = LoadIdModel(SourcePath(Folder(name)));
  const nlohmann::json all = ReadJson(Folder(name) + "/speculative.json");
  int runs = 0;
  for (const auto& [run_name, run] : all.items()) {
    SCOPED_TRACE(name + " " + run_name);
    std::vector<Round> rounds;
    EngineOptions options;
    options.draft_length = run["k"].get<int>();
    options.drafters = DrafterChoice::kMtp;
    options.instruments.full_drafts = true;
    options.kv_block_tokens = 16;
    options.instruments.on_round = [&](const Round& round) { rounds.push_back(round); };
    Engine engine(*model, options);
    Request request;
    request.task_text = IdText(Ids(run["prompt"]));
    request.stop = Ids(run["stop_ids"]);
    request.ignore_stop = request.stop.empty();
    request.max_new_tokens = run["max_new_tokens"].get<int>() + 1 + options.draft_length;
    const std::vector<TokenId> expected = Ids(run["tokens"]);
    const Decoded decoded =
        DecodeWithFullDrafts(engine, std::move(request), expected.size(), rounds);
    EXPECT_EQ(decoded.decided, expected);
    ExpectRoundsEqual(rounds, run["rounds"]);
    ++runs;
  }
  EXPECT_GE(runs, 6);
}

TEST(ResidualHeads, RunsAreEqualRoundByRound) {
  for (const char* name : {"mini-heads", "mini-heads-random", "mini-heads-late"}) {
    ExpectRunsEqual(name);
  }
}

TEST(DeepSeekMtp, RunsAreEqualRoundByRound) { ExpectRunsEqual("v3-mtp"); }

TEST(ResidualHeads, GiveTheReferencesVectorsAndLogits) {
  for (const char* name : {"mini-heads", "mini-heads-random"}) {
    const GoldenCase golden(Folder(name));
    MiniDecoder decoder(SourcePath(golden.folder));
    ASSERT_NE(decoder.parts().heads, nullptr);
    const auto workspace = decoder.parts().heads->MakeWorkspace();
    Mat g = decoder.Hidden(Ids(golden.json["tokens"]), 0);
    for (int k = 0; k < decoder.parts().heads->count(); ++k) {
      decoder.parts().heads->Apply(k, g.View(), *workspace);
      const std::string head = "head" + std::to_string(k);
      const Mat logits = decoder.Logits(g.View());
      for (const auto& [array, actual] : {std::pair{head + ".hidden", std::as_const(g).span()},
                                          {head + ".logits", logits.span()}}) {
        EXPECT_TRUE(AllClose(actual, golden.Array(array).f32, golden.Atol(array)))
            << name << " " << array;
      }
    }
  }
}

TEST(DeepSeekMtp, PrefillAndChainedDraftsAreTheReferences) {
  const GoldenCase golden(Folder("v3-mtp"));
  const auto model = LoadIdModel(SourcePath(golden.folder));
  for (const char* convention : {"default", "chain_pre"}) {
    Recorder recorder;
    EngineOptions options;
    options.draft_length = golden.json["k"].get<int>();
    options.drafters = DrafterChoice::kMtp;
    options.instruments.full_drafts = true;
    options.instruments.mtp_convention = ParseMtpConvention(convention);
    options.instruments.observer = recorder.observer();
    std::vector<TokenId> drafts;
    options.instruments.on_round = [&](const Round& round) { drafts = round.drafts; };
    Engine engine(*model, options);
    Request request;
    request.task_text = IdText(Ids(golden.json["tokens"]));
    request.ignore_stop = true;
    request.max_new_tokens = 3 + options.draft_length;
    Start(engine, std::move(request));
    engine.Step();
    EXPECT_EQ(drafts, Ids(golden.json["drafts"][convention]));
    // The warm-up ends one slot early: the last slot is the first draft's.
    std::vector<float> prefill = recorder.arrays["mtp_prefill"];
    const std::vector<float>& hidden = recorder.arrays["mtp_hidden"];
    prefill.insert(prefill.end(), hidden.begin(),
                   hidden.begin() + model->architecture().text().hidden_size);
    const std::string set = convention;
    for (const auto& [array, actual] :
         {std::pair<std::string, std::vector<float>>{"mtp.prefill", prefill},
          {"mtp." + set + ".hidden", hidden},
          {"mtp." + set + ".logits", recorder.arrays["mtp_logits"]}}) {
      EXPECT_TRUE(AllClose(actual, golden.Array(array).f32, golden.Atol(array))) << array;
    }
  }
}

}  // namespace
}  // namespace platen::testing
