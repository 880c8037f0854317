// What an engine gives back when decoding ends early: all of it, wherever it was interrupted.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <stdexcept>

#include "model/ops/work_observer.h"
#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};
constexpr int kTokens = 24;

Request RequestOf(const Model& model, const char* name, int max_new_tokens = kTokens) {
  Request request =
      GoldenRequest(model, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
  request.max_new_tokens = max_new_tokens;
  request.ignore_stop = true;
  return request;
}

// Throws out of the loops that it watches, at the end of a body.
class Breaker : public WorkObserver {
 public:
  explicit Breaker(int64_t bodies, bool again = false) : left_(bodies), again_(again) {
    SetWorkObserver(this);
  }
  ~Breaker() override { SetWorkObserver(nullptr); }
  void OnGemm(const GemmCall&, int64_t, int64_t) override {}
  void OnLoopBody(uint64_t, int64_t, int64_t) override {
    const int64_t left = left_.fetch_sub(1);
    if (left == 0 || (again_ && left < 0)) throw std::runtime_error("broken");
  }

 private:
  std::atomic<int64_t> left_;
  const bool again_;
};

class AbandonTest : public ::testing::Test {
 protected:
  std::vector<std::vector<TokenId>> Expected() const {
    std::vector<std::vector<TokenId>> tokens;
    for (const char* name : kCases) {
      Engine engine(model_, {});
      tokens.push_back(Decided(*RunToEnd(engine, RequestOf(model_, name))));
    }
    return tokens;
  }

  void StartAll(Engine& engine) const {
    for (const char* name : kCases) Start(engine, RequestOf(model_, name));
  }

  static void ExpectAllFree(const Engine& engine) {
    EXPECT_EQ(engine.live(), 0U);
    EXPECT_EQ(engine.stats().kv_blocks_free, engine.stats().kv_blocks_total);
  }

  // The engine and the sequences it gave back are as good as new.
  static void ExpectReadableAgain(Engine& engine, std::vector<std::unique_ptr<Sequence>> given_back,
                                  const std::vector<std::vector<TokenId>>& expected) {
    ASSERT_EQ(given_back.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      Sequence* sequence = given_back[i].get();
      EXPECT_TRUE(sequence->blocks.empty());
      ASSERT_TRUE(engine.TryReserve(*sequence));
      engine.Prefill(std::span(&sequence, 1));
      engine.Submit(std::move(given_back[i]));
      std::vector<std::unique_ptr<Sequence>> finished;
      while (finished.empty()) finished = engine.Step();
      EXPECT_EQ(Decided(*finished.front()), expected[i]);
    }
    ExpectAllFree(engine);
  }

  const Model& model_ = GoldenModel("tiny-a");
};

TEST_F(AbandonTest, GivesBackLiveSequencesAndTheirBlocks) {
  Engine engine(model_, {});
  EXPECT_TRUE(engine.Reset().empty());
  StartAll(engine);
  engine.Step();
  auto given_back = engine.Reset();
  ExpectAllFree(engine);
  ExpectReadableAgain(engine, std::move(given_back), Expected());
}

// One failure somewhere in a round: drafting ends for some sequences, or the pass is repeated for
// each alone. The text is the same.
TEST_F(AbandonTest, AStepThatBreaksOnceChangesNoToken) {
  const auto expected = Expected();
  int draft_faults = 0, retried = 0;
  for (int64_t bodies = 0;; bodies += 1 + bodies / 32) {
    SCOPED_TRACE("after " + std::to_string(bodies) + " bodies");
    Engine engine(model_, {});
    std::map<SequenceId, size_t> place;
    for (size_t i = 0; i < std::size(kCases); ++i) {
      place[Start(engine, RequestOf(model_, kCases[i]))->id] = i;
    }
    engine.Step();
    {
      const Breaker breaker(bodies);
      engine.Step();
    }
    while (engine.live() > 0) {
      for (const auto& s : engine.Step()) EXPECT_EQ(Decided(*s), expected[place.at(s->id)]);
    }
    ExpectAllFree(engine);
    const EngineStats stats = engine.stats();
    const int64_t draft = stats.draft_faults + stats.failed_drafts;
    if (draft + stats.retried == 0) break;  // a whole step has fewer bodies
    draft_faults += draft > 0 ? 1 : 0;
    retried += stats.retried > 0 ? 1 : 0;
  }
  EXPECT_GT(draft_faults, 5);
  EXPECT_GT(retried, 5);
}

// What fails alone as well fails by itself, with the reason, and the engine goes on.
TEST_F(AbandonTest, AStepThatBreaksEveryTimeFailsItsSequencesAndLeavesTheEngineUsable) {
  Engine engine(model_, {});
  StartAll(engine);
  std::vector<std::unique_ptr<Sequence>> failed;
  {
    const Breaker breaker(0, /*again=*/true);
    failed = engine.Step();
  }
  ASSERT_EQ(failed.size(), std::size(kCases));
  for (const auto& s : failed) {
    EXPECT_EQ(s->result.finish, FinishReason::kFailed);
    EXPECT_EQ(s->result.error, "broken");
  }
  ExpectAllFree(engine);
  ExpectReadableAgain(engine, std::move(failed), Expected());
}

TEST_F(AbandonTest, ACancelledSequenceLeavesAndTheOthersGoOn) {
  const auto expected = Expected();
  Engine engine(model_, {});
  std::vector<SequenceId> ids;
  for (const char* name : kCases) ids.push_back(Start(engine, RequestOf(model_, name))->id);
  engine.Step();
  const auto cancelled = engine.Cancel(ids[1]);
  ASSERT_NE(cancelled, nullptr);
  EXPECT_EQ(cancelled->result.finish, FinishReason::kCancelled);
  EXPECT_TRUE(cancelled->blocks.empty());
  EXPECT_EQ(engine.Cancel(ids[1]), nullptr);
  EXPECT_EQ(engine.live(), 2U);
  while (engine.live() > 0) {
    for (const auto& s : engine.Step()) EXPECT_EQ(Decided(*s), expected[s->id == ids[0] ? 0 : 2]);
  }
  ExpectAllFree(engine);
}

TEST_F(AbandonTest, GivesBackAllIfTheCallerOfARoundThrows) {
  const auto expected = Expected();
  for (int rounds = 0; rounds < 9; ++rounds) {
    int left = rounds;
    bool breaks = true;
    EngineOptions options;
    options.instruments.on_round = [&](const Round&) {
      if (breaks && left-- == 0) throw std::runtime_error("broken");
    };
    Engine engine(model_, options);
    StartAll(engine);
    EXPECT_THROW(
        {
          for (;;) engine.Step();
        },
        std::runtime_error);
    breaks = false;
    auto given_back = engine.Reset();
    ExpectAllFree(engine);
    ExpectReadableAgain(engine, std::move(given_back), expected);
  }
}

TEST_F(AbandonTest, ASequenceThatFinishedInTheBrokenStepIsGivenBackToo) {
  int left = 1;
  EngineOptions options;
  options.draft_length = 0;
  options.instruments.on_round = [&](const Round&) {
    if (left-- == 0) throw std::runtime_error("broken");
  };
  Engine engine(model_, options);
  const Sequence* first = Start(engine, RequestOf(model_, "tiny20", 2));
  Start(engine, RequestOf(model_, "text_only"));
  EXPECT_THROW(engine.Step(), std::runtime_error);
  const auto given_back = engine.Reset();
  ASSERT_EQ(given_back.size(), 2U);
  EXPECT_EQ(given_back.front().get(), first);
  EXPECT_TRUE(first->finished);
  ExpectAllFree(engine);
}

}  // namespace
}  // namespace platen::testing
