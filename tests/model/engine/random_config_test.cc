// Random legal configurations against the plain model of tests/support/plain_model.h.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "model/ops/tensor.h"
#include "tests/support/golden.h"
#include "tests/support/plain_model.h"
#include "tests/support/random_snapshot.h"

namespace platen::testing {
namespace {

// PLATEN_TEST_CONFIGS=N runs N configurations from a fresh seed (the long tier).
int NumConfigs() {
  const char* text = std::getenv("PLATEN_TEST_CONFIGS");
  return text == nullptr ? 12 : std::atoi(text);
}

uint64_t FirstSeed() {
  return std::getenv("PLATEN_TEST_CONFIGS") == nullptr ? 1 : std::random_device{}();
}

std::vector<float> Floats(const PlainModel::Rows& rows) {
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

Image RandomImage(std::mt19937_64& rng) {
  Image image(static_cast<int>(40 + rng() % 120), static_cast<int>(30 + rng() % 80));
  for (uint8_t& v : image.rgb) v = static_cast<uint8_t>(rng());
  return image;
}

// Two images and text through the program and through the plain model.
void CompareOne(const Model& model, std::mt19937_64& rng) {
  const VisionModel& encoder = *model.vision();
  Request request;
  request.images = {encoder.Prepare(RandomImage(rng)), encoder.Prepare(RandomImage(rng))};
  request.task_text = "Text Recognition:";
  request.ignore_stop = true;
  request.max_new_tokens = 6;
  Recorder recorder;
  EngineOptions options;
  options.draft_length = 2;
  options.instruments.full_drafts = true;
  options.kv_block_tokens = 16;
  options.instruments.observer = recorder.observer();
  Engine engine(model, options);
  const std::vector<PreparedImage> images = request.images;
  const auto sequence = RunToEnd(engine, std::move(request));

  const PlainModel plain(model.snapshot());
  PlainModel::Rows vision;
  for (const PreparedImage& image : images) {
    std::vector<float> patches(static_cast<size_t>(image.grid.num_patches() *
                                                   model.architecture().vision()->patch_values));
    encoder.WritePatches(image, patches);
    for (auto& row : plain.Vision(patches, image.grid)) vision.push_back(std::move(row));
  }
  // f32 against double over at most nine layers of values near 1.
  constexpr double kAtol = 3e-4;
  EXPECT_TRUE(AllClose(recorder.arrays["vision_embeds"], Floats(vision), kAtol)) << "vision";

  // All decided tokens but the last as one sequence: every hidden vector at once.
  std::vector<TokenId> ids(sequence->tokens.begin(), sequence->tokens.end() - 1);
  auto positions = sequence->prompt.positions;
  for (auto& axis : positions) {
    for (int64_t i = sequence->prompt_len(); i < static_cast<int64_t>(ids.size()); ++i) {
      axis.push_back(sequence->RopePosition(i, 0));
    }
  }
  const PlainModel::Rows hidden = plain.Hidden(ids, positions, vision);
  const auto prompt_rows = static_cast<size_t>(sequence->prompt_len());
  EXPECT_TRUE(AllClose(
      recorder.arrays["hidden"],
      Floats({hidden.begin(), hidden.begin() + static_cast<ptrdiff_t>(prompt_rows)}), kAtol))
      << "hidden";
  for (size_t i = 0; i < Decided(*sequence).size(); ++i) {
    const PlainModel::Row logits = plain.Logits(hidden[prompt_rows - 1 + i]);
    const auto best = std::max_element(logits.begin(), logits.end());
    // The chosen token is the plain model's, or within rounding of it.
    EXPECT_GE(logits[static_cast<size_t>(Decided(*sequence)[i])], *best - kAtol) << "token " << i;
  }
  if (model.draft() == nullptr) return;
  const std::vector<TokenId> next(sequence->tokens.begin() + 1,
                                  sequence->tokens.begin() + static_cast<ptrdiff_t>(prompt_rows));
  const PlainModel::Rows slots = plain.Draft(
      {hidden.begin(), hidden.begin() + static_cast<ptrdiff_t>(next.size())}, next, positions);
  EXPECT_TRUE(AllClose(recorder.arrays["mtp_prefill"], Floats(slots), kAtol)) << "draft layer";
}

TEST(RandomConfigurations, EqualThePlainModel) {
  const uint64_t first = FirstSeed();
  for (int i = 0; i < NumConfigs(); ++i) {
    std::mt19937_64 rng(first + static_cast<uint64_t>(i));
    const RandomSizes sizes = DrawSizes(rng);
    SCOPED_TRACE("seed " + std::to_string(first + static_cast<uint64_t>(i)) + ": " + sizes.Text());
    const TemporaryFolder folder;
    WriteRandomSnapshot(folder.path(), sizes, rng);
    const Model model(std::make_unique<Snapshot>(LoadSnapshot(folder.path())), BestKernels());
    CompareOne(model, rng);
  }
}

}  // namespace
}  // namespace platen::testing
