// The decoder against arrays of the references: transformers' DeepSeek classes, and MiniLLM in
// float64 (tests/golden/README.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "model/families/minillm/config.h"
#include "model/families/minillm/rotary_tables.h"
#include "model/families/minillm/router.h"
#include "tests/support/minillm.h"

namespace platen::testing {
namespace {

std::string Folder(const std::string& name) { return "tests/golden/minillm/" + name; }

const minillm::Config& ConfigOf(const Architecture& architecture) {
  return static_cast<const minillm::MiniLlm&>(architecture).config();
}

class MiniGolden : public ::testing::TestWithParam<const char*> {
 protected:
  MiniGolden() : golden_(Folder(GetParam())), decoder_(SourcePath(Folder(GetParam()))) {
    for (const int64_t id : golden_.Array("input_ids").i64) {
      ids_.push_back(static_cast<TokenId>(id));
    }
  }

  bool Has(const std::string& array) const { return golden_.json["arrays"].contains(array); }
  void ExpectClose(const std::string& array, std::span<const float> actual) const {
    EXPECT_TRUE(AllClose(actual, golden_.Array(array).f32, golden_.Atol(array))) << array;
  }

  GoldenCase golden_;
  MiniDecoder decoder_;
  std::vector<TokenId> ids_;
};

// The observer calls the final norm's rows "hidden".
TEST_P(MiniGolden, EveryStageOfThePrompt) {
  Recorder recorder;
  const Mat hidden = decoder_.Hidden(ids_, 0, recorder.observer());
  recorder.arrays["norm"] = recorder.arrays["hidden"];
  int compared = 0;
  for (const auto& [name, array] : recorder.arrays) {
    if (!Has(name)) continue;
    ExpectClose(name, array);
    ++compared;
  }
  EXPECT_GE(compared, 3 * decoder_.sizes().num_target_planes) << "arrays were not compared";
  ExpectClose("logits", decoder_.Logits(hidden.View()).span());
}

// A row, five rows and all rows at a time.
TEST_P(MiniGolden, RowsInAnyBatchesAreTheSameBits) {
  const Mat together = decoder_.Hidden(ids_, 0);
  for (const size_t step : {size_t{1}, size_t{5}}) {
    for (size_t first = 0; first < ids_.size(); first += step) {
      const size_t end = std::min(ids_.size(), first + step);
      const std::vector<TokenId> some(ids_.begin() + static_cast<ptrdiff_t>(first),
                                      ids_.begin() + static_cast<ptrdiff_t>(end));
      const Mat rows = decoder_.Hidden(some, static_cast<int64_t>(first));
      EXPECT_TRUE(std::ranges::equal(
          rows.span(), together.span().subspan(first * static_cast<size_t>(together.cols()),
                                               rows.span().size())))
          << "rows from " << first << ", " << step << " at a time";
    }
  }
}

TEST_P(MiniGolden, PositionsFarAwayAndWithAJump) {
  std::vector<int32_t> far(ids_.size()), jump(ids_.size());
  std::iota(far.begin(), far.end(), 9000);
  std::iota(jump.begin(), jump.begin() + 12, 0);
  std::iota(jump.begin() + 12, jump.end(), 7000);
  for (const auto& [array, positions] :
       {std::pair{"logits_at_position_9000", far}, std::pair{"logits_with_jump", jump}}) {
    if (!Has(array)) continue;
    const Mat hidden = decoder_.Hidden(ids_, 0, {}, positions);
    ExpectClose(array, decoder_.Logits(hidden.View()).span());
  }
}

TEST_P(MiniGolden, GreedyTokens) {
  const std::vector<TokenId> expected = Ids(golden_.json["greedy"]["tokens"]);
  EXPECT_EQ(decoder_.Greedy(ids_, expected.size()), expected);
}

TEST_P(MiniGolden, RotaryTables) {
  if (!Has("rope_cos")) return;
  const auto architecture = FamilyRegistry::BuiltIn().Read(SourcePath(golden_.folder));
  const Checkpoint checkpoint = Checkpoint::Open(SourcePath(golden_.folder));
  architecture->Settle(checkpoint);
  const minillm::Config& config = ConfigOf(*architecture);
  Table cosines, sines;
  if (const StoredTensor* stored = checkpoint.Find("model.freqs_cos")) {
    cosines.tensor = *stored;
    sines.tensor = *checkpoint.Find("model.freqs_sin");
  }
  const minillm::RotaryTables tables(config, cosines, sines);
  std::vector<int32_t> positions(ids_.size());
  std::iota(positions.begin(), positions.end(), 0);
  const auto rows = static_cast<int64_t>(positions.size());
  Mat cos(rows, config.rope_width), sin(rows, config.rope_width);
  tables.Fill(positions, cos.View(), sin.View());
  ExpectClose("rope_cos", cos.span());
  ExpectClose("rope_sin", sin.span());
}

// From the golden logits of every router: the same experts, and their weights.
TEST_P(MiniGolden, ExpertsAndTheirWeights) {
  const auto architecture = FamilyRegistry::BuiltIn().Read(SourcePath(golden_.folder));
  const minillm::Config& config = ConfigOf(*architecture);
  const Checkpoint checkpoint = Checkpoint::Open(SourcePath(golden_.folder));
  minillm::Router router(config.router);
  std::vector<minillm::ExpertChoice> chosen;
  for (int layer = 0; layer < config.num_layers; ++layer) {
    const std::string name = "router" + std::to_string(layer);
    EXPECT_EQ(Has(name + ".logits"), config.HasExperts(layer)) << name;
    if (!Has(name + ".logits")) continue;
    const Npy logits = golden_.Array(name + ".logits");
    const Npy experts = golden_.Array(name + ".experts");
    const Npy weights = golden_.Array(name + ".weights");
    std::vector<float> bias;
    if (const StoredTensor* stored = checkpoint.Find("model.layers." + std::to_string(layer) +
                                                     ".mlp.gate.e_score_correction_bias")) {
      bias.resize(static_cast<size_t>(stored->num_elements()));
      WidenToF32(*stored, bias);
    }
    const auto e = static_cast<size_t>(config.router.experts);
    const auto k = static_cast<size_t>(config.router.per_token);
    for (size_t r = 0; r * e < logits.f32.size(); ++r) {
      router.Choose({logits.f32.data() + r * e, e}, bias, chosen);
      for (size_t i = 0; i < k; ++i) {
        EXPECT_EQ(chosen[i].expert, experts.i64[r * k + i]) << name << " row " << r;
        EXPECT_NEAR(chosen[i].weight, weights.f32[r * k + i], golden_.Atol(name + ".weights"));
      }
    }
  }
}

// The rows of an array [rows, width] that begins at cache index `first`, of those asked for.
void AppendRows(const std::vector<float>& array, size_t first, size_t count,
                const std::vector<size_t>& wanted, std::vector<float>& to) {
  const size_t width = array.size() / count;
  for (const size_t row : wanted) {
    if (row < first || row >= first + count) continue;
    const auto begin = array.begin() + static_cast<ptrdiff_t>((row - first) * width);
    to.insert(to.end(), begin, begin + static_cast<ptrdiff_t>(width));
  }
}

// A context of 9,000 tokens, with the scaling of positions from 4,096 on; then eight more tokens.
TEST(MiniLong, FarRowsOfALongContext) {
  const GoldenCase golden(Folder("mini-long"));
  MiniDecoder decoder(SourcePath(golden.folder));
  const auto length = golden.json["length"].get<size_t>();
  const std::vector<size_t> rows = golden.json["rows"];
  const auto words = static_cast<uint64_t>(decoder.sizes().vocab_size) - 3;
  std::vector<TokenId> ids;
  for (uint64_t x = 12345; ids.size() < length;) {
    x = (1103515245 * x + 12345) % (uint64_t{1} << 31);
    ids.push_back(static_cast<TokenId>(3 + x / 256 % words));
  }
  EXPECT_EQ(std::vector<TokenId>(ids.end() - 8, ids.end()), Ids(golden.json["last_tokens"]));

  std::map<std::string, std::vector<float>> at_rows;
  Mat hidden;
  constexpr size_t kAtOnce = 600;
  for (size_t first = 0; first < length; first += kAtOnce) {
    const std::vector<TokenId> some(ids.begin() + static_cast<ptrdiff_t>(first),
                                    ids.begin() + static_cast<ptrdiff_t>(first + kAtOnce));
    Recorder recorder;
    hidden = decoder.Hidden(some, static_cast<int64_t>(first), recorder.observer());
    recorder.arrays["norm"] = recorder.arrays["hidden"];
    const Mat logits = decoder.Logits(hidden.View());
    recorder.arrays["logits"].assign(logits.span().begin(), logits.span().end());
    for (const auto& [name, array] : recorder.arrays) {
      AppendRows(array, first, kAtOnce, rows, at_rows[name]);
    }
  }
  int compared = 0;
  for (const auto& [name, values] : at_rows) {
    if (!golden.json["arrays"].contains(name)) continue;
    EXPECT_TRUE(AllClose(values, golden.Array(name).f32, golden.Atol(name))) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 5 * 2 + 2);

  std::vector<TokenId> tokens;
  std::vector<float> all_logits;
  const std::vector<TokenId> expected = Ids(golden.json["greedy"]["tokens"]);
  while (tokens.size() < expected.size()) {
    const Mat logits = decoder.Logits(hidden.View().Rows(hidden.rows() - 1, 1));
    all_logits.insert(all_logits.end(), logits.span().begin(), logits.span().end());
    const auto best = std::ranges::max_element(logits.span());
    tokens.push_back(static_cast<TokenId>(best - logits.span().begin()));
    hidden = decoder.Hidden({tokens.back()}, static_cast<int64_t>(length + tokens.size() - 1));
  }
  EXPECT_EQ(tokens, expected);
  EXPECT_TRUE(
      AllClose(all_logits, golden.Array("greedy_logits").f32, golden.Atol("greedy_logits")));
}

INSTANTIATE_TEST_SUITE_P(Cases, MiniGolden,
                         ::testing::Values("v3-moe-yarn", "v3-dense-half", "v3-plain-fullq",
                                           "v3-freq", "mini-softmax", "mini-softmax-raw",
                                           "mini-sigmoid", "mini-tables", "mini-defaults"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace platen::testing
