// A draft layer from a file of its own: other drafts, the same text.
#include "model/families/draft_weights.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/snapshot_edits.h"

namespace platen::testing {
namespace {

constexpr const char* kSnapshot = "tests/golden/snapshots/tiny-a";

class DraftWeights : public ::testing::TestWithParam<Precision> {
 protected:
  // The draft layer's tensors of the snapshot, as `edit` leaves each: name, dtype and shape in the
  // header's entry, and bytes.
  using Edit = std::function<void(std::string& name, OrderedJson& entry, std::string& bytes)>;
  std::string Write(const Edit& edit, const OrderedJson& metadata = OrderedJson::object()) const {
    const Snapshot snapshot = LoadSnapshot(SourcePath(kSnapshot));
    SafetensorsParts parts;
    const ModuleTable modules = snapshot.Modules();
    for (const Module& module : modules.modules()) {
      if (module.rows_of != RowsOf::kDraft) continue;
      for (const TensorSpec& spec : module.weights) {
        const StoredTensor& stored = *FindTensor(snapshot.checkpoint, spec);
        std::string name = spec.name;
        OrderedJson entry = {{"dtype", DTypeName(stored.dtype)}, {"shape", stored.shape}};
        std::string bytes(reinterpret_cast<const char*>(stored.bytes.data()), stored.bytes.size());
        edit(name, entry, bytes);
        if (name.empty()) continue;
        entry["data_offsets"] = {parts.data.size(), parts.data.size() + bytes.size()};
        parts.header[name] = entry;
        parts.data += bytes;
      }
    }
    if (!metadata.empty()) parts.header["__metadata__"] = metadata;
    const std::string path = folder_ / "head.safetensors";
    std::ofstream(path, std::ios::binary) << JoinSafetensors(parts);
    return path;
  }
  static void AsItIs(std::string&, OrderedJson&, std::string&) {}
  static void Silence(std::string& name, OrderedJson&, std::string& bytes) {
    if (name.find("eh_proj") != std::string::npos) bytes.assign(bytes.size(), '\0');
  }

  std::unique_ptr<Model> Load(const std::string& head) const {
    return std::make_unique<Model>(std::make_unique<Snapshot>(LoadSnapshot(SourcePath(kSnapshot))),
                                   BestKernels(), GetParam(), PackingOptions{},
                                   VisionAttention::kF32, DraftWeightsFile{head});
  }
  std::string Refusal(const Edit& edit) const {
    try {
      Load(Write(edit));
      return "";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::kModel);
      EXPECT_EQ(e.location().file, folder_ / "head.safetensors");
      return e.location().field + " " + e.reason();
    }
  }

  struct Run {
    std::vector<TokenId> text;
    std::vector<std::vector<TokenId>> drafts;  // by round
  };
  static Run Decode(const Model& model) {
    Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/tiny20"));
    request.max_new_tokens = 30;
    request.ignore_stop = true;
    Run run;
    EngineOptions options;
    options.drafters = DrafterChoice::kMtp;
    options.instruments.on_round = [&](const Round& r) { run.drafts.push_back(r.drafts); };
    Engine engine(model, options);
    run.text = Decided(*RunToEnd(engine, std::move(request)));
    return run;
  }

  TempFolder folder_;
};

TEST_P(DraftWeights, TheSnapshotsOwnFromAFileDraftTheSame) {
  const Run own = Decode(*Load(""));
  const Run from_file = Decode(*Load(Write(AsItIs)));
  EXPECT_EQ(from_file.text, own.text);
  EXPECT_EQ(from_file.drafts, own.drafts);
}

TEST_P(DraftWeights, OthersDraftOtherwiseAndTheTextStays) {
  const Run own = Decode(*Load(""));
  const Run other = Decode(*Load(Write(Silence)));
  EXPECT_EQ(other.text, own.text);
  EXPECT_NE(other.drafts, own.drafts);
}

// Two requests one after the other; the watch has its rounds in the first.
struct TwoRuns {
  std::vector<TokenId> texts[2];
  std::vector<std::vector<TokenId>> later_drafts;
  std::vector<std::string> told;
  EngineStats stats;
};
TwoRuns DecodeTwice(const Model& model) {
  TwoRuns runs;
  EngineOptions options;
  options.drafters = DrafterChoice::kMtp;
  options.instruments.on_round = [&](const Round& r) { runs.later_drafts.push_back(r.drafts); };
  options.on_draft_head_given_up = [&](const std::string& why) { runs.told.push_back(why); };
  Engine engine(model, options);
  for (std::vector<TokenId>& text : runs.texts) {
    runs.later_drafts.clear();
    Request request = GoldenRequest(model, GoldenCase("tests/golden/cases/tiny-a/tiny20"));
    request.max_new_tokens = 60;
    request.ignore_stop = true;
    text = Decided(*RunToEnd(engine, std::move(request)));
  }
  runs.stats = engine.stats();
  return runs;
}

// The file says that the model's own are often right; these never are.
TEST_P(DraftWeights, ThoseThatAreWorseThanTheModelsOwnAreGivenUp) {
  const TwoRuns own = DecodeTwice(*Load(""));
  const auto model = Load(Write(Silence, {{DraftFileFacts::kOwnAcceptance, "0.9,0.8,0.7"}}));
  ASSERT_NE(model->own_drafts(), nullptr);
  const TwoRuns watched = DecodeTwice(*model);
  EXPECT_EQ(watched.texts[0], own.texts[0]);
  EXPECT_EQ(watched.texts[1], own.texts[1]);
  ASSERT_EQ(watched.told.size(), 1U);
  EXPECT_EQ(watched.stats.draft_head_given_up, watched.told[0]);
  EXPECT_NE(watched.told[0].find("the model's own gave 3.40"), std::string::npos);
  EXPECT_EQ(watched.later_drafts, own.later_drafts) << "the model's own have taken over";
}

TEST_P(DraftWeights, ThoseThatAreNoWorseStay) {
  for (const char* own : {"0.01,0.001", "", "0.5,0.9", "2", "0.9,", "x"}) {
    const auto model = Load(Write(Silence, {{DraftFileFacts::kOwnAcceptance, own}}));
    EXPECT_EQ(model->own_drafts() != nullptr, std::string(own) == "0.01,0.001") << own;
    const TwoRuns runs = DecodeTwice(*model);
    EXPECT_TRUE(runs.told.empty()) << own;
    EXPECT_NE(runs.later_drafts, DecodeTwice(*Load("")).later_drafts);
  }
}

TEST_P(DraftWeights, WhatDoesNotFitIsRefusedByName) {
  const auto drop = [](std::string& name, OrderedJson&, std::string&) {
    if (name.ends_with("hnorm.weight")) name.clear();
  };
  EXPECT_NE(Refusal(drop).find("hnorm.weight is missing"), std::string::npos);
  const auto fold = [](std::string& name, OrderedJson& entry, std::string&) {
    if (!name.ends_with("hnorm.weight")) return;
    entry["shape"] = {static_cast<int64_t>(entry["shape"][0]) / 2, 2};
  };
  EXPECT_NE(Refusal(fold).find("has shape"), std::string::npos);
  const auto infinite = [](std::string& name, OrderedJson&, std::string& bytes) {
    if (name.ends_with("eh_proj.weight"))
      bytes.replace(0, 8, "\xff\xff\xff\x7f\xff\xff\xff\x7f", 8);
  };
  EXPECT_NE(Refusal(infinite), "");
  const std::string extra =
      Write([first = true](std::string& name, OrderedJson&, std::string&) mutable {
        if (first) name = "model.language_model.norm.weight";
        first = false;
      });
  EXPECT_THROW(Load(extra), Error);
  EXPECT_THROW(Load(folder_ / "nothing"), Error);
}

TEST(DraftWeightsOf, AModelWithoutDraftLayerAreRefused) {
  ModelParts none;
  try {
    LoadDraftWeights(Checkpoint::OfTensors({}), "head.safetensors", Precision::kF32, 48,
                     BestKernels(), none);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.reason().find("no draft layer"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Precisions, DraftWeights,
                         ::testing::Values(Precision::kF32, Precision::kInt8),
                         [](const auto& test) { return std::string(PrecisionName(test.param)); });

}  // namespace
}  // namespace platen::testing
