// A fault at every place of every round: drafting that fails costs speed, a pass that fails is
// repeated, and the text is the same.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <new>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/support/golden.h"

namespace platen::testing {
namespace {

constexpr const char* kCases[] = {"tiny20", "two_images", "text_only"};

Request RequestOf(const Model& model, const char* name) {
  Request request =
      GoldenRequest(model, GoldenCase(std::string("tests/golden/cases/tiny-a/") + name));
  request.max_new_tokens = 40;
  request.ignore_stop = true;
  return request;
}

// Fails at a place, the n-th time it is passed: throws, or spoils the rows that were made there.
struct Fault {
  enum class Kind { kThrow, kNoMemory, kNan };
  std::string place;
  int64_t at = 0;
  Kind kind = Kind::kThrow;
  bool always_after = false;
};

class Faults : public ::testing::Test {
 protected:
  using Texts = std::vector<std::vector<TokenId>>;

  EngineOptions Options() const {
    EngineOptions options;
    options.draft_length = 4;
    options.kv_block_tokens = 16;
    return options;
  }

  Texts Run(const EngineOptions& options) {
    Engine engine(model_, options);
    std::map<SequenceId, size_t> place;
    Texts texts(std::size(kCases));
    const auto step = [&] {
      for (const auto& s : engine.Step()) {
        finish_[place.at(s->id)] = s->result.finish;
        texts[place.at(s->id)] = Decided(*s);
      }
    };
    for (size_t i = 0; i < std::size(kCases); ++i) {
      place[Start(engine, RequestOf(model_, kCases[i]))->id] = i;
      step();
    }
    while (engine.live() > 0) step();
    stats_ = engine.stats();
    EXPECT_EQ(stats_.kv_blocks_free, stats_.kv_blocks_total);
    return texts;
  }

  // How often every place is passed in a run without faults.
  std::map<std::string, int64_t> Places() {
    std::map<std::string, int64_t> passed;
    EngineOptions options = Options();
    options.instruments.fault_point = [&](std::string_view place, MatView) {
      ++passed[std::string(place)];
    };
    Run(options);
    return passed;
  }

  Texts With(const Fault& fault) {
    int64_t passed = 0;
    EngineOptions options = Options();
    options.instruments.fault_point = [&, fault](std::string_view place, MatView rows) {
      if (place != fault.place) return;
      const int64_t n = passed++;
      if (n != fault.at && !(fault.always_after && n > fault.at)) return;
      switch (fault.kind) {
        case Fault::Kind::kThrow:
          throw std::runtime_error("fault at " + fault.place);
        case Fault::Kind::kNoMemory:
          throw std::bad_alloc();
        case Fault::Kind::kNan:
          std::fill_n(rows.Row(rows.rows - 1), rows.cols, std::numeric_limits<float>::quiet_NaN());
      }
    };
    return Run(options);
  }

  Texts Plain() {
    EngineOptions options = Options();
    options.draft_length = 0;
    return Run(options);
  }

  const Model& model_ = GoldenModel("tiny-a");
  EngineStats stats_;
  std::map<size_t, FinishReason> finish_;
};

TEST_F(Faults, EveryPlaceIsPassed) {
  std::set<std::string> places;
  for (const auto& [place, times] : Places()) {
    places.insert(place);
    EXPECT_GE(times, 3) << place;
  }
  for (const char* place : {"grow", "draft.observe", "draft.extend", "draft.chain", "draft.logits",
                            "verify.layer0", "verify.hidden", "verify.logits", "commit.drafter"}) {
    EXPECT_TRUE(places.contains(place)) << place;
  }
}

TEST_F(Faults, OneAnywhereChangesNoToken) {
  const Texts plain = Plain();
  for (const auto& [place, times] : Places()) {
    for (int64_t at = 0; at < times; at = at < 12 ? at + 1 : at + 7) {
      for (const auto kind : {Fault::Kind::kThrow, Fault::Kind::kNoMemory}) {
        EXPECT_EQ(With({place, at, kind}), plain) << place << ", time " << at;
        if (place == "grow") continue;  // drafts are shortened, or somebody gives way
        const bool draft = place.starts_with("draft") || place.starts_with("commit");
        EXPECT_EQ(stats_.draft_faults + stats_.failed_drafts > 0, draft) << place;
        EXPECT_EQ(stats_.failed_passes > 0, !draft) << place;
      }
    }
  }
}

TEST_F(Faults, LogitsThatAreNotNumbersOnceChangeNoToken) {
  const Texts plain = Plain();
  for (const char* place : {"draft.logits", "verify.logits"}) {
    const int64_t times = Places().at(place);
    for (int64_t at = 0; at < times; ++at) {
      EXPECT_EQ(With({place, at, Fault::Kind::kNan}), plain) << place << ", time " << at;
    }
  }
}

// Drafting that fails whenever it is tried is given up, with the reason.
TEST_F(Faults, DraftingThatAlwaysFailsEndsForTheRun) {
  const Texts plain = Plain();
  for (const char* place : {"draft.observe", "draft.extend", "draft.chain", "commit.drafter"}) {
    EXPECT_EQ(With({place, 0, Fault::Kind::kThrow, /*always_after=*/true}), plain) << place;
    EXPECT_GE(stats_.draft_faults + stats_.failed_drafts, 3) << place;
    ASSERT_FALSE(stats_.fault_reasons.empty()) << place;
    EXPECT_EQ(stats_.fault_reasons.front().first, std::string("fault at ") + place);
  }
  EXPECT_EQ(With({"draft.extend", 0, Fault::Kind::kThrow, true}), plain);
  EXPECT_LE(stats_.draft_faults, 9) << "three of each sequence";
  EXPECT_NE(stats_.speculation.find("fault at draft.extend"), std::string::npos);
  EXPECT_TRUE(stats_.speculation.starts_with("off: ")) << stats_.speculation;
}

// A pass that fails for ever fails every sequence with the reason, and nothing hangs.
TEST_F(Faults, APassThatAlwaysFailsFailsItsSequences) {
  With({"verify.layer0", 0, Fault::Kind::kThrow, /*always_after=*/true});
  ASSERT_EQ(finish_.size(), std::size(kCases));
  for (const auto& [place, reason] : finish_) EXPECT_EQ(reason, FinishReason::kFailed) << place;
  // The last row of every pass: only the sequence that has it suffers.
  finish_.clear();
  const Texts plain = Plain();
  const Texts texts = With({"verify.logits", 0, Fault::Kind::kNan, /*always_after=*/true});
  size_t failed = 0;
  for (const auto& [place, reason] : finish_) {
    failed += reason == FinishReason::kFailed ? 1 : 0;
    if (reason != FinishReason::kFailed) {
      EXPECT_EQ(texts[place], plain[place]);
    }
  }
  EXPECT_GE(failed, 1U);
}

}  // namespace
}  // namespace platen::testing
