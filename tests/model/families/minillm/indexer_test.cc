// Sparse attention: what each row keeps, and what comes of it, against the references' arrays.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <set>

#include "tests/support/minillm.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

constexpr const char* kMean = "tests/golden/minillm/mini-dsa";
constexpr const char* kLightning = "tests/golden/minillm/v32-dsa";

// The golden folder with a platen.json of its own.
class Switched {
 public:
  explicit Switched(const std::string& mode) {
    for (const char* file : {"config.json", "model.safetensors"}) {
      std::filesystem::create_symlink(SourcePath(std::string(kMean) + "/" + file),
                                      folder_.path() + "/" + file);
    }
    folder_.Write("platen.json", R"({"attention_index": ")" + mode + "\"}");
  }
  const std::string& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

std::vector<TokenId> TokensOf(const GoldenCase& golden, const std::string& array) {
  std::vector<TokenId> ids;
  for (const int64_t id : golden.Array(array).i64) ids.push_back(static_cast<TokenId>(id));
  return ids;
}

// Kept keys of row `row` in an array [R, width] of ids, -1 behind; those beyond the row are none.
std::set<int64_t> KeptOf(std::span<const int64_t> ids, size_t width, size_t row) {
  std::set<int64_t> kept;
  for (const int64_t id : ids.subspan(row * width, width)) {
    if (id >= 0 && id <= static_cast<int64_t>(row)) kept.insert(id);
  }
  return kept;
}

// A row that sees all keeps all.
void ExpectKept(const std::vector<float>& recorded, const Npy& expected, const std::string& what) {
  const auto rows = static_cast<size_t>(expected.shape[0]);
  const auto width = static_cast<size_t>(expected.shape[1]);
  ASSERT_EQ(recorded.size(), rows * width) << what;
  const std::vector<int64_t> ours(recorded.begin(), recorded.end());
  for (size_t row = 0; row < rows; ++row) {
    std::set<int64_t> kept = KeptOf(ours, width, row);
    const bool sees_all = kept.empty();
    for (size_t key = 0; sees_all && key <= row; ++key) kept.insert(static_cast<int64_t>(key));
    EXPECT_EQ(kept, KeptOf(expected.i64, width, row)) << what << " row " << row;
  }
}

// Of equal scores, which ReLU makes many at 0, torch takes any. So what the reference kept must
// have the scores of what we keep; and with its keys in their place everything behind must be its
// own.
TEST(Indexer, TheLightningIndexKeepsTheReferencesKeysButForEqualScores) {
  const GoldenCase golden(kLightning);
  MiniDecoder decoder(SourcePath(kLightning));
  constexpr int kLayers = 3;
  std::array<Npy, kLayers> expected;
  for (int layer = 0; layer < kLayers; ++layer) {
    expected[static_cast<size_t>(layer)] =
        golden.Array("indexer" + std::to_string(layer) + ".topk");
  }
  std::atomic<int> same = 0, other = 0;
  decoder.workspace().index.adjust = [&](int plane, int64_t row, std::span<const float> scores,
                                         std::vector<int32_t>& kept) {
    const Npy& theirs = expected[static_cast<size_t>(plane - kLayers)];
    const std::set<int64_t> keys =
        KeptOf(theirs.i64, static_cast<size_t>(theirs.shape[1]), static_cast<size_t>(row));
    ASSERT_EQ(keys.size(), kept.size());
    std::multiset<float> our_scores, their_scores;
    for (const int32_t key : kept) our_scores.insert(scores[static_cast<size_t>(key)]);
    for (const int64_t key : keys) their_scores.insert(scores[static_cast<size_t>(key)]);
    EXPECT_EQ(our_scores, their_scores) << "plane " << plane << " row " << row;
    ++(std::ranges::equal(keys, kept) ? same : other);
    kept.assign(keys.begin(), keys.end());
  };
  Recorder recorder;
  const Mat hidden = decoder.Hidden(TokensOf(golden, "input_ids"), 0, recorder.observer());
  EXPECT_GT(same, other);
  recorder.arrays["norm"] = recorder.arrays["hidden"];
  const Mat logits = decoder.Logits(hidden.View());
  recorder.arrays["logits"].assign(logits.span().begin(), logits.span().end());
  int compared = 0;
  for (const auto& [name, array] : recorder.arrays) {
    if (!golden.json["arrays"].contains(name)) continue;
    EXPECT_TRUE(AllClose(array, golden.Array(name).f32, golden.Atol(name))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 3 * kLayers + 2 * 2 + 2);
}

TEST(Indexer, TheMeanIndexIsOffUnlessItIsAskedFor) {
  const GoldenCase golden(kMean);
  for (const std::string mode : {"off", "causal_topk"}) {
    const Switched folder(mode);
    MiniDecoder decoder(folder.path());
    MiniDecoder by_default(SourcePath(kMean));
    EXPECT_TRUE(decoder.check().unexpected.empty());
    Recorder recorder;
    const std::vector<TokenId> ids = TokensOf(golden, "input_ids");
    const Mat logits = decoder.Logits(decoder.Hidden(ids, 0, recorder.observer()).View());
    EXPECT_EQ(recorder.arrays.contains("indexer0.kept"), mode == "causal_topk");
    recorder.arrays["norm"] = recorder.arrays["hidden"];
    recorder.arrays["logits"].assign(logits.span().begin(), logits.span().end());
    int compared = 0;
    for (const auto& [name, array] : recorder.arrays) {
      const std::string full = mode + "." + name;
      if (!golden.json["arrays"].contains(full)) continue;
      EXPECT_TRUE(AllClose(array, golden.Array(full).f32, golden.Atol(full))) << full;
      ++compared;
    }
    EXPECT_EQ(compared, 8) << mode;
    const std::vector<TokenId> greedy = Ids(golden.json["greedy"][mode]["tokens"]);
    EXPECT_EQ(decoder.Greedy(ids, greedy.size()), greedy);
    if (mode == "off") {
      EXPECT_EQ(by_default.Greedy(ids, greedy.size()), greedy);
    }
  }
}

TEST(Indexer, TheMeanIndexKeepsTheReferencesKeysAndOfEqualOnesTheFirst) {
  const GoldenCase golden(kMean);
  const Switched folder("causal_topk");
  for (const auto& [prefix, tokens] :
       {std::pair{"causal_topk.", "input_ids"}, std::pair{"ties.causal_topk.", "ties.input_ids"}}) {
    MiniDecoder decoder(folder.path());
    Recorder recorder;
    const Mat hidden = decoder.Hidden(TokensOf(golden, tokens), 0, recorder.observer());
    for (const char* layer : {"indexer0", "indexer1"}) {
      ExpectKept(recorder.arrays.at(std::string(layer) + ".kept"),
                 golden.Array(std::string(prefix) + layer + ".topk"), std::string(prefix) + layer);
    }
    const std::string logits = std::string(prefix) + "logits";
    EXPECT_TRUE(AllClose(decoder.Logits(hidden.View()).span(), golden.Array(logits).f32,
                         golden.Atol(logits)));
  }
}

// No more tokens than are kept: the same bits as without an index.
TEST(Indexer, IsWithoutEffectWhereAllAreKept) {
  const GoldenCase golden(kMean);
  const std::vector<TokenId> ids = Ids(golden.json["short_tokens"]);
  const Switched on("causal_topk"), off("off");
  MiniDecoder sparse(on.path()), dense(off.path());
  const Mat a = sparse.Hidden(ids, 0), b = dense.Hidden(ids, 0);
  EXPECT_TRUE(std::ranges::equal(a.span(), b.span()));
  EXPECT_TRUE(AllClose(sparse.Logits(a.View()).span(), golden.Array("short.logits").f32,
                       golden.Atol("short.logits")));
}

// In any batches, in f32 and in int8 precision, and with other tokens behind: nothing leaks back.
TEST(Indexer, ARowDependsOnNothingBehindItNorOnItsBatch) {
  const Switched on("causal_topk");
  for (const std::string& folder : {on.path(), SourcePath(kLightning)}) {
    for (const Precision precision : {Precision::kF32, Precision::kInt8}) {
      MiniDecoder decoder(folder, BestKernels(), precision);
      std::vector<TokenId> ids(40);
      for (size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<TokenId>(3 + i * 29 % 100);
      const Mat together = decoder.Hidden(ids, 0);
      for (size_t row = 0; row < ids.size(); ++row) {
        const Mat alone = decoder.Hidden({ids[row]}, static_cast<int64_t>(row));
        EXPECT_TRUE(std::ranges::equal(
            alone.span(), together.span().subspan(row * alone.span().size(), alone.span().size())))
            << row;
      }
      std::vector<TokenId> other = ids;
      other.back() = 50;
      const Mat changed = decoder.Hidden(other, 0);
      const size_t before = static_cast<size_t>(changed.cols()) * (ids.size() - 1);
      EXPECT_TRUE(std::ranges::equal(changed.span().first(before), together.span().first(before)));
      EXPECT_FALSE(std::ranges::equal(changed.span(), together.span()));
    }
  }
}

TEST(Indexer, AnUnknownModeIsRefusedByName) {
  const Switched folder("sometimes");
  try {
    MiniDecoder decoder(folder.path());
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.location().field, "attention_index");
  }
}

}  // namespace
}  // namespace platen::testing
