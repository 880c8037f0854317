// What the trainer trains is what the engine drafts: the same logits, bit for bit, of every draft
// of every round.
#include "model/training/engine_draft.h"

#include <gtest/gtest.h>

#include "model/engine/teacher_forced.h"
#include "tests/support/minillm.h"
#include "tests/support/training_golden.h"

namespace platen::testing {
namespace {

constexpr int kSteps = 5;

struct Decoding {
  std::unique_ptr<Sequence> sequence;
  std::vector<Round> rounds;
  std::vector<float> logits;  // of all drafts, one after another
};

Decoding Decode(const Model& model, Request request) {
  Decoding decoding;
  Recorder recorder;
  EngineOptions options;
  options.draft_length = kSteps;
  options.drafters = DrafterChoice::kMtp;
  options.kv_block_tokens = 32;  // not those of EngineDraft
  options.warm_up = WarmUp::kAlways;
  options.instruments.full_drafts = true;
  options.instruments.observer = recorder.observer();
  options.instruments.on_round = [&](const Round& round) { decoding.rounds.push_back(round); };
  Engine engine(model, options);
  request.max_new_tokens = 60;
  request.ignore_stop = true;
  decoding.sequence = RunToEnd(engine, std::move(request));
  decoding.logits = std::move(recorder.arrays["mtp_logits"]);
  return decoding;
}

// The tokens before a round's anchor as a prompt, then the anchor and the drafts as if the target
// had decided them: every step has one row, which is what the engine computed.
TrainingPage PageOfRound(const Sequence& s, const Round& round, ConstMatView hidden) {
  TrainingPage page;
  page.prompt = round.cache_len_before;
  page.ids.assign(s.tokens.begin(), s.tokens.begin() + page.prompt + 1);
  page.ids.insert(page.ids.end(), round.drafts.begin(), round.drafts.end());
  for (int64_t i = 0; i < page.length(); ++i) {
    for (size_t axis = 0; axis < 3; ++axis) {
      page.positions[axis].push_back(s.RopePosition(i, static_cast<int>(axis)));
    }
  }
  page.hidden.Resize(page.length() - 1, hidden.cols);
  for (int64_t i = 0; i < page.prompt; ++i) {
    std::copy_n(hidden.Row(i), hidden.cols, page.hidden.Row(i));
  }
  return page;
}

void ExpectTie(const Model& model, Request request) {
  const Decoding decoding = Decode(model, std::move(request));
  const Sequence& s = *decoding.sequence;
  TeacherForcedPass pass(model);
  const std::vector<TokenId> answer = Decided(s);
  const ConstMatView hidden = pass.HiddenOfAll(s, answer);
  const DraftShape shape = model.architecture().Draft().value();
  EngineDraft draft(model.snapshot(), shape, model.kernels(), model.precision());
  draft.LoadOwn();
  const auto vocabulary = static_cast<size_t>(draft.vocab_size());
  size_t at = 0;
  std::vector<Matrix<float>> vectors;
  for (const Round& round : decoding.rounds) {
    const auto steps = static_cast<int>(round.drafts.size());
    const TrainingPage page = PageOfRound(s, round, hidden);
    draft.Vectors(page, steps, vectors);
    for (int d = 0; d < steps; ++d, at += vocabulary) {
      // The last draft is nobody's input: there is no row for the step behind it.
      const Matrix<float>& rows = vectors[static_cast<size_t>(d)];
      ASSERT_EQ(rows.rows(), steps - d);
      Matrix<float> logits(1, draft.vocab_size());
      draft.Logits(rows.View().Rows(0, 1), logits);
      ASSERT_TRUE(std::equal(logits.values().begin(), logits.values().end(),
                             decoding.logits.begin() + static_cast<std::ptrdiff_t>(at)))
          << "round at " << round.cache_len_before << ", step " << d;
    }
  }
  EXPECT_EQ(at, decoding.logits.size());
  EXPECT_GE(decoding.rounds.size(), 10U);
}

class GlmTie : public ::testing::TestWithParam<std::tuple<const char*, Precision>> {};

TEST_P(GlmTie, EveryDraftOfEveryRound) {
  const auto& [name, precision] = GetParam();
  const Model& model = GoldenModel(name, precision);
  for (const char* request : {"exif6", "two_images", "text_only"}) {
    SCOPED_TRACE(request);
    ExpectTie(model, GoldenRequest(model, GoldenCase(std::string("tests/golden/cases/") + name +
                                                     "/" + request)));
  }
}

INSTANTIATE_TEST_SUITE_P(Snapshots, GlmTie,
                         ::testing::Combine(::testing::Values("tiny-a", "tiny-b", "tiny-c"),
                                            ::testing::Values(Precision::kF32, Precision::kInt8)));

class MiniTie : public ::testing::TestWithParam<std::tuple<const char*, Precision>> {};

TEST_P(MiniTie, EveryDraftOfEveryRound) {
  const auto& [name, precision] = GetParam();
  const auto model =
      LoadIdModel(SourcePath(std::string("tests/golden/minillm/") + name), precision);
  Request request;
  request.task_text = "6 28 24 17 5 9 3 39 12 30 31 7 8 20 33 2 9 18 4";
  ExpectTie(*model, std::move(request));
}

INSTANTIATE_TEST_SUITE_P(Snapshots, MiniTie,
                         ::testing::Combine(::testing::Values("v3-mtp", "mini-heads"),
                                            ::testing::Values(Precision::kF32, Precision::kInt8)));

// Chains share the blocks of the first step and go on in copies: each row is what it is alone.
void ExpectRowsAlone(const char* folder) {
  TrainingGolden golden(folder);
  const Snapshot snapshot = golden.MakeBareSnapshot();
  EngineDraft draft(snapshot, golden.shape(), BestKernels(), Precision::kF32);
  draft.Load(golden.MakeParameters<float>());
  for (const TrainingPage& page : golden.pages()) {
    std::vector<Matrix<float>> all, alone;
    draft.Vectors(page, 3, all);
    for (int64_t r = 0; r < all[0].rows(); ++r) {
      TrainingPage part = page;
      part.prompt = page.prompt + r;
      draft.Vectors(part, 3, alone);
      for (size_t d = 0; d < 3; ++d) {
        if (alone[d].rows() == 0) continue;
        ASSERT_TRUE(std::equal(alone[d].Row(0), alone[d].Row(0) + alone[d].cols(), all[d].Row(r)))
            << page.document << " row " << r << " step " << d;
      }
    }
  }
}

TEST(EngineDraftTest, ARowIsWhatItIsAlone) {
  ExpectRowsAlone("glm/tiny-a");
  ExpectRowsAlone("latent/moe-yarn");
}

// And the graph that is differentiated gives the same but for rounding.
void ExpectGraphAgrees(const char* folder, const char* key) {
  TrainingGolden golden(folder);
  const Snapshot snapshot = golden.MakeBareSnapshot();
  EngineDraft draft(snapshot, golden.shape(), BestKernels(), Precision::kF32);
  Parameters<float> parameters = golden.MakeParameters<float>();
  draft.Load(parameters);
  const FrozenHead<float> head(golden.head(), 0);
  BatchGradient<float> graph(parameters, head, ChainOn::kNormed, golden.Embed<float>());
  const Objective objective = golden.ObjectiveOf(golden.json()["objectives"][key]);
  for (const TrainingPage& page : golden.pages()) {
    const TrainingPage* const pages[] = {&page};
    graph.Losses(pages, objective);
    std::vector<Matrix<float>> vectors;
    draft.Vectors(page, 3, vectors);
    for (size_t d = 0; d < 3; ++d) {
      const std::span<const float> expected = graph.vectors()[d].values();
      EXPECT_TRUE(AllClose(vectors[d].values(), expected, 2e-5)) << page.document << " step " << d;
    }
  }
}

TEST(EngineDraftTest, TheGraphAgrees) {
  ExpectGraphAgrees("glm/tiny-a", "K3_n");
  ExpectGraphAgrees("glm/tiny-b", "K3_n");
  ExpectGraphAgrees("latent/moe-yarn", "K3_n");
  ExpectGraphAgrees("latent/dense-half", "K3_n");
}

// n of step 0 at all slots of the page, prompt slots included.
TEST(EngineDraftTest, TheFirstStepIsTheReferences) {
  for (const char* folder : {"glm/tiny-a", "glm/tiny-b"}) {
    TrainingGolden golden(folder);
    const Snapshot snapshot = golden.MakeBareSnapshot();
    EngineDraft draft(snapshot, golden.shape(), BestKernels(), Precision::kF32);
    draft.Load(golden.MakeParameters<float>());
    for (size_t i = 0; i < golden.pages().size(); ++i) {
      const std::string name = "page" + std::to_string(i) + ".step0";
      const Matrix<float> step = draft.FirstStep(golden.pages()[i]);
      EXPECT_TRUE(
          AllClose(step.values(), golden.golden().Array(name).f32, golden.golden().Atol(name)))
          << name;
    }
  }
}

}  // namespace
}  // namespace platen::testing
