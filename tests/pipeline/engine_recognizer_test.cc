// Who owns a sequence while it is read: the recogniser, whatever happens to the engine.
#include "pipeline/engine_recognizer.h"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

#include "model/engine/sequence.h"
#include "pipeline/messages.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr int kCrops = 3;

class EngineRecognizerTest : public ::testing::Test {
 protected:
  EngineRecognizerTest() {
    EngineOptions options;
    options.instruments.on_round = [this](const Round&) {
      if (rounds_left_-- == 0) throw std::runtime_error("broken");
    };
    engine_ = std::make_unique<Engine>(GoldenModel("tiny-a"), options);
    recognizer_ = std::make_unique<EngineRecognizer>(GoldenModel("tiny-a"), *engine_);
  }

  std::unique_ptr<CropSequence> Prepared(int number) {
    std::mt19937 random(static_cast<uint32_t>(number));
    Image crop(40 + 30 * number, 40);
    for (uint8_t& v : crop.rgb) v = static_cast<uint8_t>(random());
    auto sequence = recognizer_->Prepare(
        crop, {.task_text = "Text Recognition:", .max_new_tokens = 6, .ignore_stop = true});
    sequence->crop = &crops_[number];
    return sequence;
  }

  void Submit(std::unique_ptr<CropSequence> sequence) {
    CropSequence* raw = sequence.get();
    ASSERT_TRUE(recognizer_->TryReserve(*raw));
    recognizer_->Prefill(std::span(&raw, 1));
    recognizer_->Submit(std::move(sequence));
  }

  void SubmitAll() {
    for (int i = 0; i < kCrops; ++i) {
      auto sequence = Prepared(i);
      CropSequence* raw = sequence.get();
      recognizer_->EncodeImages(std::span(&raw, 1));
      Submit(std::move(sequence));
    }
  }

  // Tokens of all sequences by their crop.
  std::map<const PageCrop*, std::vector<TokenId>> ReadToEnd() {
    std::map<const PageCrop*, std::vector<TokenId>> tokens;
    while (recognizer_->live() > 0) {
      for (const auto& sequence : recognizer_->Step()) {
        tokens[sequence->crop] = recognizer_->Result(*sequence).tokens;
      }
    }
    return tokens;
  }

  void ExpectAllFree() const {
    EXPECT_EQ(engine_->live(), 0U);
    EXPECT_EQ(engine_->stats().kv_blocks_free, engine_->stats().kv_blocks_total);
  }

  PageCrop crops_[kCrops];
  int64_t rounds_left_ = -1;  // until a round throws; below 0: never
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<EngineRecognizer> recognizer_;
};

TEST_F(EngineRecognizerTest, GivesBackEveryReadingAfterTheEngineThrew) {
  SubmitAll();
  const auto expected = ReadToEnd();
  ASSERT_EQ(expected.size(), static_cast<size_t>(kCrops));
  for (const int64_t rounds : {0, 1, 2, 4}) {
    SubmitAll();
    rounds_left_ = rounds;
    EXPECT_THROW(ReadToEnd(), std::runtime_error);
    rounds_left_ = -1;
    std::vector<std::unique_ptr<CropSequence>> sequences = recognizer_->Abandon();
    ASSERT_EQ(sequences.size(), static_cast<size_t>(kCrops)) << rounds;
    ExpectAllFree();
    for (auto& sequence : sequences) Submit(std::move(sequence));  // as good as never read
    EXPECT_EQ(ReadToEnd(), expected);
    ExpectAllFree();
  }
}

TEST_F(EngineRecognizerTest, AReadingThatIsDroppedReturnsItsBlocks) {
  SubmitAll();
  rounds_left_ = 0;
  EXPECT_THROW(recognizer_->Step(), std::runtime_error);
  recognizer_->Abandon().clear();
  auto reserved = Prepared(0);
  ASSERT_TRUE(recognizer_->TryReserve(*reserved));
  reserved.reset();
  ExpectAllFree();
}

TEST_F(EngineRecognizerTest, DestroyedAmidReadingItLeavesNothingInTheEngine) {
  SubmitAll();
  recognizer_->Step();
  recognizer_.reset();
  ExpectAllFree();
}

TEST_F(EngineRecognizerTest, DestroyedAfterTheEngineThrewItLeavesNothingInTheEngine) {
  SubmitAll();
  rounds_left_ = 1;
  EXPECT_THROW(recognizer_->Step(), std::runtime_error);
  recognizer_.reset();
  ExpectAllFree();
}

}  // namespace
}  // namespace platen::testing
