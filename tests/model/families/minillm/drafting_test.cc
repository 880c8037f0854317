// Drafts by the family's own heads and layer, against the reference's arrays and traces.
#include <gtest/gtest.h>

#include "model/engine/draft_offsets.h"
#include "tests/support/golden_rounds.h"
#include "tests/support/minillm.h"

namespace platen::testing {
namespace {

std::string Folder(const std::string& name) { return "tests/golden/minillm/" + name; }

void ExpectRunsOf(const std::string& name) {
  SCOPED_TRACE(name);
  const auto model = LoadIdModel(SourcePath(Folder(name)));
  ExpectRunsEqual(*model, ReadJson(Folder(name) + "/speculative.json"),
                  [](const nlohmann::json& run) {
                    Request request;
                    request.task_text = IdText(Ids(run["prompt"]));
                    return request;
                  });
}

TEST(ResidualHeads, RunsAreEqualRoundByRound) {
  for (const char* name : {"mini-heads", "mini-heads-random", "mini-heads-late"}) {
    ExpectRunsOf(name);
  }
}

TEST(DeepSeekMtp, RunsAreEqualRoundByRound) { ExpectRunsOf("v3-mtp"); }

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

// Heads trained one position late are best one token further on.
TEST(ResidualHeads, AnOffsetScanTellsWhatTheyGuess) {
  for (const char* name : {"mini-heads", "mini-heads-late"}) {
    const GoldenCase golden(Folder(name));
    const nlohmann::json& scan = golden.json["offset_scan"];
    const Npy lines = GoldenCase(Folder("mini-heads")).Array("scan_tokens");
    std::vector<std::vector<TokenId>> texts;
    for (int64_t line = 0; line < lines.shape[0]; ++line) {
      const auto first = lines.i64.begin() + line * lines.shape[1];
      texts.emplace_back(first, first + lines.shape[1]);
    }
    const auto model = LoadIdModel(SourcePath(golden.folder));
    const std::vector<HeadOffsets> offsets = ScanDraftOffsets(*model, texts);
    ASSERT_EQ(offsets.size(), 3U);
    for (size_t k = 0; k < offsets.size(); ++k) {
      EXPECT_EQ(offsets[k].rows, scan["rows"].get<int64_t>());
      EXPECT_EQ(offsets[k].best(), scan["best_offset"][k].get<int>()) << name << " head " << k;
      for (size_t j = 0; j < offsets[k].right.size(); ++j) {
        // Rows whose two best tokens are within a thousandth may come out either way.
        EXPECT_NEAR(static_cast<double>(offsets[k].right[j]), scan["agreement"][k][j].get<double>(),
                    scan["rows_with_margin_below_1e-3"].get<double>());
      }
    }
  }
  const auto none = LoadIdModel(SourcePath(Folder("v3-mtp")));
  EXPECT_THROW(ScanDraftOffsets(*none, {}), Error);
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
