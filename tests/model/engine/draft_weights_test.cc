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
  std::string Write(const Edit& edit) const {
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
    const std::string path = folder_ / "head.safetensors";
    std::ofstream(path, std::ios::binary) << JoinSafetensors(parts);
    return path;
  }
  static void AsItIs(std::string&, OrderedJson&, std::string&) {}

  std::unique_ptr<Model> Load(const std::string& head) const {
    return std::make_unique<Model>(std::make_unique<Snapshot>(LoadSnapshot(SourcePath(kSnapshot))),
                                   BestKernels(), GetParam(), PackingOptions{},
                                   VisionAttention::kF32, head);
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
  const auto silence = [](std::string& name, OrderedJson&, std::string& bytes) {
    if (name.find("eh_proj") != std::string::npos) bytes.assign(bytes.size(), '\0');
  };
  const Run other = Decode(*Load(Write(silence)));
  EXPECT_EQ(other.text, own.text);
  EXPECT_NE(other.drafts, own.drafts);
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
