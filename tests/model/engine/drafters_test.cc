// Whoever drafts, and however badly, the text is that of plain decoding.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};

Request RequestOf(const Model& model, const char* name) {
  Request request =
      GoldenRequest(model, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
  request.max_new_tokens = 24;
  request.ignore_stop = true;
  return request;
}

// Drafts whatever `guess` says of a sequence and the place behind its newest token. Throws in the
// call of that number, counted over Observe, Propose and Commit.
class ScriptedDrafter final : public Drafter {
 public:
  using Guess = std::function<TokenId(const Sequence& s, int ahead)>;
  ScriptedDrafter(Guess guess, int fails_at) : guess_(std::move(guess)), left_(fails_at) {}

  std::string_view name() const override { return "scripted"; }
  void Observe(std::span<Sequence* const>, const RowBatch&, ConstMatView, bool) override {
    Count();
  }
  bool CanPropose(const Sequence& s) const override { return !forgotten_.contains(s.id); }
  void Propose(std::span<Proposal> proposals, const DraftLimits&, DraftCosts&) override {
    for (Proposal& p : proposals) {
      while (static_cast<int>(p.drafts.size()) < p.planned) {
        p.drafts.push_back(guess_(*p.sequence, static_cast<int>(p.drafts.size())));
      }
    }
    Count();
  }
  void Commit(const Sequence&, ConstMatView) override { Count(); }
  void Forget(SequenceId sequence) noexcept override { forgotten_[sequence] = true; }

 private:
  void Count() {
    if (left_-- == 0) throw std::runtime_error("drafter broken");
  }

  Guess guess_;
  int left_;
  std::map<SequenceId, bool> forgotten_;
};

class Drafters : public ::testing::Test {
 protected:
  using Texts = std::vector<std::vector<TokenId>>;

  Texts Plain() const {
    Texts texts;
    for (const char* name : kCases) {
      EngineOptions options;
      options.draft_length = 0;
      Engine engine(model_, options);
      texts.push_back(Decided(*RunToEnd(engine, RequestFor(name))));
    }
    return texts;
  }

  // All cases in one engine, one after the other joining. `guess` knows a sequence by its id: 1,
  // 2, 3.
  Texts With(const ScriptedDrafter::Guess& guess, int fails_at = -1) {
    EngineOptions options;
    options.draft_length = 4;
    options.kv_block_tokens = 16;
    options.instruments.make_drafter = [&](const Model&, KvPool&) {
      return std::make_unique<ScriptedDrafter>(guess, fails_at);
    };
    Engine engine(model_, options);
    Texts texts(std::size(kCases));
    std::map<SequenceId, size_t> place;
    const auto step = [&] {
      for (const auto& s : engine.Step()) texts[place.at(s->id)] = Decided(*s);
    };
    for (size_t i = 0; i < std::size(kCases); ++i) {
      place[Start(engine, RequestFor(kCases[i]))->id] = i;
      step();
    }
    while (engine.live() > 0) step();
    stats_ = engine.stats();
    EXPECT_EQ(stats_.kv_blocks_free, stats_.kv_blocks_total);
    return texts;
  }

  Request RequestFor(const char* name) const {
    Request request = RequestOf(model_, name);
    request.sampling = sampling_;
    return request;
  }

  const Model& model_ = GoldenModel("tiny-a");
  SamplingOptions sampling_;
  EngineStats stats_;
};

TEST_F(Drafters, OneThatIsAlwaysRightIsAcceptedAlways) {
  const Texts plain = Plain();
  const auto right = [&](const Sequence& s, int ahead) {
    const auto place = static_cast<size_t>(s.num_decided() + ahead);
    return plain[static_cast<size_t>(s.id) - 1][place];
  };
  EXPECT_EQ(With(right), plain);
  EXPECT_GT(stats_.drafted_at[3], 0);
  EXPECT_EQ(stats_.accepted_at, stats_.drafted_at);
}

// The rows of a round are penalised for the drafts before them, as plain decoding penalises for the
// tokens that it has decided by then.
TEST_F(Drafters, OneThatIsAlwaysRightIsAcceptedAlwaysUnderAPenalty) {
  const Texts free = Plain();
  sampling_.repetition_penalty = 1.5F;
  const Texts plain = Plain();
  EXPECT_NE(plain, free);
  const auto right = [&](const Sequence& s, int ahead) {
    const auto place = static_cast<size_t>(s.num_decided() + ahead);
    return plain[static_cast<size_t>(s.id) - 1][place];
  };
  EXPECT_EQ(With(right), plain);
  EXPECT_GT(stats_.drafted_at[3], 0);
  EXPECT_EQ(stats_.accepted_at, stats_.drafted_at);
}

TEST_F(Drafters, OneThatIsAlwaysWrongIsNeverAccepted) {
  const Texts plain = Plain();
  const int vocab = model_.architecture().text().vocab_size;
  const auto wrong = [&](const Sequence& s, int ahead) {
    const auto place = static_cast<size_t>(s.num_decided() + ahead);
    return (plain[static_cast<size_t>(s.id) - 1][place] + 1) % vocab;
  };
  EXPECT_EQ(With(wrong), plain);
  EXPECT_GT(stats_.drafted_at[0], 0);
  EXPECT_EQ(stats_.accepted_at[0], 0);
}

TEST_F(Drafters, OneThatGuessesAtRandomChangesNothing) {
  const Texts plain = Plain();
  std::mt19937 rng(3);
  const int vocab = model_.architecture().text().vocab_size;
  const auto random = [&](const Sequence&, int) {
    return static_cast<TokenId>(rng() % static_cast<uint32_t>(vocab));
  };
  EXPECT_EQ(With(random), plain);
}

TEST_F(Drafters, OneThatFailsAtAnyCallEndsDraftingThereAndChangesNothing) {
  const Texts plain = Plain();
  const auto right = [&](const Sequence& s, int ahead) {
    const auto place = static_cast<size_t>(s.num_decided() + ahead);
    return plain[static_cast<size_t>(s.id) - 1][place];
  };
  int failed = 0;
  for (int call = 0;; ++call) {
    EXPECT_EQ(With(right, call), plain) << "call " << call;
    if (stats_.draft_faults + stats_.failed_drafts == 0) break;
    ++failed;
  }
  EXPECT_GT(failed, 8);
}

}  // namespace
}  // namespace platen::testing
