// The decoder written plainly (tests/support/plain_minillm.h): against the references' arrays, and
// the program's decoder against it, on models drawn at random too.
#include "tests/support/plain_minillm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <random>

#include "tests/support/minillm.h"
#include "tests/support/random_snapshot.h"
#include "tests/support/temp_folder.h"

namespace platen::testing {
namespace {

using Sparse = PlainMiniLlm::Sparse;
using Rows = PlainMiniLlm::Rows;

std::string Folder(const std::string& name) { return "tests/golden/minillm/" + name; }

// The plain decoder of a folder.
struct Plain {
  explicit Plain(const std::string& folder, Sparse sparse = Sparse::kOff)
      : architecture(FamilyRegistry::BuiltIn().Read(folder)), checkpoint(Checkpoint::Open(folder)) {
    architecture->Settle(checkpoint);
    model = std::make_unique<PlainMiniLlm>(config(), checkpoint, sparse);
  }
  const minillm::Config& config() const {
    return static_cast<const minillm::MiniLlm&>(*architecture).config();
  }

  std::unique_ptr<Architecture> architecture;
  Checkpoint checkpoint;
  std::unique_ptr<PlainMiniLlm> model;
};

std::vector<float> Flat(const Rows& rows) {
  std::vector<float> all;
  for (const PlainMiniLlm::Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Rows LogitsOf(const PlainMiniLlm& model, const Rows& hidden) {
  Rows logits;
  for (const PlainMiniLlm::Row& row : hidden) logits.push_back(model.Logits(row));
  return logits;
}

std::vector<TokenId> TokensOf(const GoldenCase& golden, const std::string& array) {
  std::vector<TokenId> ids;
  for (const int64_t id : golden.Array(array).i64) ids.push_back(static_cast<TokenId>(id));
  return ids;
}

// Compares what the plain decoder saw with the arrays "PREFIX attn0", ...; how many there were.
int CompareStages(const GoldenCase& golden, const std::string& prefix,
                  const PlainMiniLlm::Trace& trace, const PlainMiniLlm& model) {
  std::map<std::string, Rows> stages = trace.stages;
  stages["norm"] = stages.at("hidden");
  stages["logits"] = LogitsOf(model, stages.at("hidden"));
  int compared = 0;
  for (const auto& [name, rows] : stages) {
    const std::string full = prefix + name;
    if (!golden.json["arrays"].contains(full)) continue;
    EXPECT_TRUE(AllClose(Flat(rows), golden.Array(full).f32, golden.Atol(full))) << full;
    ++compared;
  }
  return compared;
}

// Greedy tokens behind a prompt, the whole sequence anew for each.
std::vector<TokenId> Greedy(const PlainMiniLlm& model, std::vector<TokenId> ids, size_t count) {
  const size_t prompt = ids.size();
  while (ids.size() < prompt + count) {
    const PlainMiniLlm::Row logits = model.Logits(model.Forward(ids, {}, prompt).back());
    ids.push_back(static_cast<TokenId>(std::ranges::max_element(logits) - logits.begin()));
  }
  return {ids.begin() + static_cast<ptrdiff_t>(prompt), ids.end()};
}

class PlainGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(PlainGolden, TheReferencesArrays) {
  const GoldenCase golden(Folder(GetParam()));
  const Plain plain(SourcePath(golden.folder));
  const std::vector<TokenId> ids = TokensOf(golden, "input_ids");
  PlainMiniLlm::Trace trace;
  plain.model->Forward(ids, {}, ids.size(), &trace);
  EXPECT_GE(CompareStages(golden, "", trace, *plain.model), 3 * plain.config().num_layers + 1);
}

INSTANTIATE_TEST_SUITE_P(Cases, PlainGolden,
                         ::testing::Values("v3-moe-yarn", "v3-dense-half", "v3-plain-fullq",
                                           "v3-freq", "mini-softmax", "mini-softmax-raw",
                                           "mini-sigmoid", "mini-tables", "mini-defaults"),
                         [](const auto& param) {
                           std::string name = param.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// [layers][rows] of an array [rows, width] of ids, -1 behind.
std::set<int> KeptIn(const Npy& array, size_t row) {
  const auto width = static_cast<ptrdiff_t>(array.shape[1]);
  const auto first = array.i64.begin() + static_cast<ptrdiff_t>(row) * width;
  std::set<int> kept;
  std::for_each(first, first + width, [&](int64_t id) {
    if (id >= 0) kept.insert(static_cast<int>(id));
  });
  return kept;
}

void ExpectKept(const GoldenCase& golden, const std::string& prefix,
                const PlainMiniLlm::Trace& trace) {
  for (size_t layer = 0; layer < trace.kept.size(); ++layer) {
    const std::string name = prefix + "indexer" + std::to_string(layer) + ".topk";
    const Npy expected = golden.Array(name);
    for (size_t row = 0; row < trace.kept[layer].size(); ++row) {
      EXPECT_EQ(trace.kept[layer][row], KeptIn(expected, row)) << name << " row " << row;
    }
  }
}

// What MiniLLM's own code does, which no call of this program gives: kept keys of later rows, rows
// without any key before them, and dense decoding over the caches that this leaves.
TEST(PlainMiniLlm, TheFormOfTheOriginalCode) {
  const GoldenCase golden(Folder("mini-dsa"));
  const Plain plain(SourcePath(golden.folder), Sparse::kSeed);
  for (const auto& [prefix, tokens, arrays] :
       {std::tuple{"seed_compat.", "input_ids", 8}, {"ties.seed_compat.", "ties.input_ids", 1}}) {
    const std::vector<TokenId> ids = TokensOf(golden, tokens);
    PlainMiniLlm::Trace trace;
    plain.model->Forward(ids, {}, ids.size(), &trace);
    EXPECT_GE(CompareStages(golden, prefix, trace, *plain.model), arrays) << prefix;
    ExpectKept(golden, prefix, trace);
  }
  const nlohmann::json without = golden.json["rows_without_past_key"];
  PlainMiniLlm::Trace trace;
  const std::vector<TokenId> ids = TokensOf(golden, "input_ids");
  plain.model->Forward(ids, {}, ids.size(), &trace);
  for (size_t layer = 0; layer < trace.kept.size(); ++layer) {
    std::vector<int> rows;
    for (size_t row = 0; row < ids.size(); ++row) {
      if (*trace.kept[layer][row].begin() > static_cast<int>(row)) {
        rows.push_back(static_cast<int>(row));
      }
    }
    EXPECT_EQ(rows, without[std::to_string(layer)].get<std::vector<int>>());
  }
  const std::vector<TokenId> greedy = Ids(golden.json["greedy"]["seed_compat"]["tokens"]);
  EXPECT_EQ(Greedy(*plain.model, ids, greedy.size()), greedy);
}

// As many rows as are kept: the original form is dense, too.
TEST(PlainMiniLlm, TheFormOfTheOriginalCodeIsDenseForShortPrompts) {
  const GoldenCase golden(Folder("mini-dsa"));
  const std::vector<TokenId> ids = Ids(golden.json["short_tokens"]);
  const Plain seed(SourcePath(golden.folder), Sparse::kSeed), dense(SourcePath(golden.folder));
  EXPECT_EQ(seed.model->Forward(ids, {}, ids.size()), dense.model->Forward(ids, {}, ids.size()));
}

// ---- the program's decoder against it

void ExpectNear(ConstMatView actual, const Rows& expected, double tolerance,
                const std::string& what) {
  ASSERT_EQ(actual.rows, std::ssize(expected)) << what;
  double worst = 0;
  for (int64_t r = 0; r < actual.rows; ++r) {
    for (int64_t i = 0; i < actual.cols; ++i) {
      const double e = expected[static_cast<size_t>(r)][static_cast<size_t>(i)];
      const double error = std::abs(static_cast<double>(actual.Row(r)[i]) - e);
      worst = std::max(worst, std::isnan(error) ? 1e9 : error);
    }
  }
  EXPECT_LT(worst, tolerance) << what;
}

// At far positions torch's choice among equal scores, which ReLU makes many at 0, differs from
// ours; so the references' arrays cannot be compared there, but the plain decoder can.
TEST(PlainMiniLlm, TheLightningIndexAtFarPositions) {
  const GoldenCase golden(Folder("v32-dsa"));
  const Plain plain(SourcePath(golden.folder), Sparse::kCausal);
  MiniDecoder decoder(SourcePath(golden.folder));
  const std::vector<TokenId> ids = TokensOf(golden, "input_ids");
  for (const int32_t first : {0, 9000, 30000}) {
    std::vector<int32_t> positions(ids.size());
    std::iota(positions.begin(), positions.end(), first);
    Recorder recorder;
    const Mat hidden = decoder.Hidden(ids, 0, recorder.observer(), positions);
    PlainMiniLlm::Trace trace;
    const Rows expected = plain.model->Forward(ids, positions, ids.size(), &trace);
    size_t kept_rows = 0;
    for (size_t layer = 0; layer < trace.kept.size(); ++layer) {
      const std::vector<float>& ours =
          recorder.arrays.at("indexer" + std::to_string(layer) + ".kept");
      const size_t width = ours.size() / ids.size();
      for (size_t row = 0; row < ids.size(); ++row) {
        std::set<int> kept;
        for (size_t i = 0; i < width; ++i) {
          if (ours[row * width + i] >= 0) kept.insert(static_cast<int>(ours[row * width + i]));
        }
        EXPECT_EQ(kept, trace.kept[layer][row]) << "layer " << layer << " row " << row;
        kept_rows += kept.empty() ? 0 : 1;
      }
    }
    EXPECT_GT(kept_rows, ids.size()) << "hardly a row left a key out";
    ExpectNear(hidden.View(), expected, 2e-4, "from position " + std::to_string(first));
  }
}

// A legal config with any of what the family knows.
nlohmann::json DrawConfig(std::mt19937_64& rng) {
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(rng() % static_cast<uint64_t>(high - low + 1));
  };
  const auto chance = [&](int percent) { return pick(1, 100) <= percent; };
  const bool mini = chance(50);
  const int heads = pick(1, 5);
  nlohmann::json c = {{"model_type", mini         ? "minillm"
                                     : chance(50) ? "deepseek_v3"
                                                  : "deepseek_v32"},
                      {"vocab_size", 97},
                      {"hidden_size", heads * pick(5, 14)},
                      {"intermediate_size", pick(8, 70)},
                      {"num_hidden_layers", pick(1, 3)},
                      {"num_attention_heads", heads},
                      {"max_position_embeddings", 40 * 64},
                      {"rms_norm_eps", chance(50) ? 1e-5 : 1e-6},
                      {"rope_theta", chance(50) ? 10000.0 : 500.0},
                      {"kv_lora_rank", pick(3, 40)},
                      {"qk_nope_head_dim", pick(3, 20)},
                      {"qk_rope_head_dim", 2 * pick(1, 8)},
                      {"v_head_dim", pick(3, 20)},
                      {"tie_word_embeddings", chance(50)},
                      {"num_nextn_predict_layers", 0},
                      {"eos_token_id", 2}};
  const bool v32 = c["model_type"] == "deepseek_v32";
  c["q_lora_rank"] = v32 || chance(60) ? nlohmann::json(pick(4, 30)) : nlohmann::json(nullptr);
  if (v32) {
    c["index_n_heads"] = pick(1, 4);
    c["index_head_dim"] = 2 * pick(8, 12);
    c["index_topk"] = pick(1, 9);
  }
  if (mini && chance(40)) c["hidden_act"] = "relu2";
  if (mini && chance(40)) c["logit_softcap"] = 4.0;
  if (mini && chance(40)) {
    c["residual_scale"] = 0.7;
    c["residual_decay"] = 0.2;
  }
  if (chance(50)) {
    c["rope_scaling"] = {{"type", "yarn"},
                         {"factor", 40.0},
                         {"original_max_position_embeddings", 64},
                         {"beta_fast", 32.0},
                         {"beta_slow", 1.0},
                         {"mscale", 1.0},
                         {"mscale_all_dim", chance(50) ? 1.0 : 0.0}};
  }
  c["attention_bias"] = !c["q_lora_rank"].is_null() && chance(40);
  if (!mini && chance(30)) c["rope_interleave"] = false;
  const int groups = chance(50) ? 1 : pick(2, 4);
  c["use_moe"] = true;
  c["n_routed_experts"] = groups * pick(2, 4);
  c["n_group"] = groups;
  c["topk_group"] = groups == 1 || chance(50) ? 1 : 2;
  c["moe_layer_freq"] = pick(1, 2);
  c["num_experts_per_tok"] = pick(1, 2);
  c["n_shared_experts"] = mini ? pick(0, 2) : pick(1, 2);
  c["moe_intermediate_size"] = pick(4, 30);
  c["first_k_dense_replace"] = pick(0, 2);
  c["norm_topk_prob"] = chance(50);
  c["routed_scaling_factor"] = chance(50) ? 1.0 : 2.5;
  if (mini) c["scoring_func"] = chance(50) ? "softmax" : "sigmoid";
  return c;
}

// Ids of a sequence for models with 97 tokens.
std::vector<TokenId> DrawTokens(std::mt19937_64& rng, size_t count) {
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids) id = static_cast<TokenId>(rng() % 97);
  return ids;
}

// PLATEN_TEST_CONFIGS=N runs N models from a fresh seed (the long tier).
TEST(PlainMiniLlm, TheProgramAgreesOnRandomModels) {
  const char* wanted = std::getenv("PLATEN_TEST_CONFIGS");
  const uint64_t seed = wanted == nullptr ? 1 : std::random_device{}();
  const int models = wanted == nullptr ? 20 : std::atoi(wanted);
  std::mt19937_64 rng(seed);
  int compared = 0;
  for (int i = 0; i < models; ++i) {
    const nlohmann::json config = DrawConfig(rng);
    const std::string what =
        "seed " + std::to_string(seed) + ", model " + std::to_string(i) + ": " + config.dump();
    TempFolder folder;
    folder.Write("config.json", config.dump());
    WriteRandomWeights(folder.path(), FamilyRegistry::BuiltIn().Read(folder.path())->Modules(),
                       rng);
    const bool lightning = config["model_type"] == "deepseek_v32";
    const Plain plain(folder.path(), lightning ? Sparse::kCausal : Sparse::kOff);
    MiniDecoder decoder(folder.path());
    const std::vector<TokenId> ids = DrawTokens(rng, 40);
    PlainMiniLlm::Trace trace;
    const Rows expected = plain.model->Forward(ids, {}, ids.size(), &trace);
    constexpr double kTooNear = 1e-5;
    if (trace.margin < kTooNear) continue;
    ++compared;
    const Mat hidden = decoder.Hidden(ids, 0);
    ExpectNear(hidden.View(), expected, 1e-3, what);
    ExpectNear(decoder.Logits(hidden.View()).View(), LogitsOf(*plain.model, expected), 1e-3, what);
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
  EXPECT_GE(compared, models / 2) << "too many choices were near";
}

}  // namespace
}  // namespace platen::testing
