// The seam between the program and a family: a decoder of another family, described in this folder
// only, passes the suite of every family and computes what its formulas say.
#include "tests/model/families/llama/llama.h"

#include <algorithm>

#include "model/families/inspect.h"
#include "tests/model/families/llama/plain_llama.h"
#include "tests/support/family_properties.h"
#include "tests/support/random_snapshot.h"
#include "tests/support/temp_folder.h"

namespace platen::llama {
namespace {

using namespace platen::testing;

// The folder of a small model with random weights; lives as long as the process.
const std::string& TinyLlama() {
  static const TempFolder folder;
  static const std::string path = [] {
    const nlohmann::json config = {{"model_type", "llama"},     {"vocab_size", 912},
                                   {"hidden_size", 60},         {"intermediate_size", 76},
                                   {"num_hidden_layers", 3},    {"num_attention_heads", 6},
                                   {"num_key_value_heads", 2},  {"max_position_embeddings", 512},
                                   {"rms_norm_eps", 1e-5},      {"rope_theta", 10000.0},
                                   {"eos_token_id", {873, 880}}};
    folder.Write("config.json", config.dump());
    folder.Write("tokenizer.json",
                 ReadFile(SourcePath("tests/golden/snapshots/tiny-a/tokenizer.json")));
    std::mt19937_64 rng(20);
    WriteRandomWeights(folder.path(), Families().Read(folder.path())->Modules(), rng);
    return folder.path();
  }();
  return path;
}

std::unique_ptr<Snapshot> LoadTiny() {
  return std::make_unique<Snapshot>(LoadSnapshot(TinyLlama(), Families()));
}

std::vector<Request> Requests(const Model&) {
  std::vector<Request> requests;
  for (const char* text : {"A", "Once upon a time there was a printer", "12 + 13 =",
                           "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do",
                           "one two three four five six seven eight nine ten eleven twelve"}) {
    requests.emplace_back().task_text = text;
  }
  return requests;
}

INSTANTIATE_TEST_SUITE_P(Llama, FamilyProperties,
                         ::testing::Values(FamilyCase{"tiny", Precision::kF32, LoadTiny, Requests},
                                           FamilyCase{"tiny", Precision::kInt8, LoadTiny,
                                                      Requests}),
                         FamilyCaseName);

TEST(Llama, ComputesWhatItsFormulasSay) {
  const Model model(LoadTiny(), BestKernels());
  const PlainLlama plain(model.snapshot());
  // f32 against double over three layers of values near 1.
  constexpr double kAtol = 1e-4;
  for (Request& request : Requests(model)) {
    request.max_new_tokens = 8;
    request.ignore_stop = true;
    Recorder recorder;
    EngineOptions options;
    options.kv_block_tokens = 16;
    options.instruments.observer = recorder.observer();
    Engine engine(model, options);
    const auto sequence = RunToEnd(engine, std::move(request));
    const std::vector<TokenId> ids(sequence->tokens.begin(), sequence->tokens.end() - 1);
    const PlainLlama::Rows hidden = plain.Hidden(ids);
    const auto prompt_rows = static_cast<size_t>(sequence->prompt_len());
    std::vector<float> expected;
    for (size_t r = 0; r < prompt_rows; ++r) {
      expected.insert(expected.end(), hidden[r].begin(), hidden[r].end());
    }
    EXPECT_TRUE(AllClose(recorder.arrays["hidden"], expected, kAtol));
    const std::vector<TokenId> decided = Decided(*sequence);
    for (size_t i = 0; i < decided.size(); ++i) {
      const PlainLlama::Row logits = plain.Logits(hidden[prompt_rows - 1 + i]);
      // The chosen token is the plain model's, or within rounding of it.
      EXPECT_GE(logits[static_cast<size_t>(decided[i])],
                *std::max_element(logits.begin(), logits.end()) - kAtol);
    }
  }
}

TEST(Llama, IsUnknownToTheProgramItself) {
  try {
    LoadSnapshot(TinyLlama());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.location().field, "model_type");
    EXPECT_EQ(error.reason(), "is \"llama\"; known: deepseek_v3, deepseek_v32, glm_ocr, minillm");
  }
}

TEST(Llama, IsInspectedLikeAnyOther) {
  const InspectReport report = InspectSnapshot(TinyLlama(), Families());
  EXPECT_TRUE(report.usable()) << FormatInspectReport(report);
  EXPECT_NE(FormatInspectReport(report).find("layers               3"), std::string::npos);
}

TEST(Llama, AnImageIsRefusedByNameAndReason) {
  const Model model(LoadTiny(), BestKernels());
  EXPECT_EQ(model.vision(), nullptr);
  EXPECT_THROW(RequireVision(model), Error);
  Engine engine(model, {});
  Request request;
  request.images.emplace_back().grid = {2, 2};
  request.task_text = "x";
  EXPECT_THROW(engine.Prepare(std::move(request)), Error);
}

}  // namespace
}  // namespace platen::llama
