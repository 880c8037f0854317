#include "model/engine/repetition_guard.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace platen {
namespace {

using Tokens = std::vector<TokenId>;
using Limits = RepetitionGuard::Limits;

RepetitionGuard::Classify Always(UnitKind kind) {
  return [kind](std::span<const TokenId>) { return kind; };
}

// What run(period) means.
int32_t RunByScanning(std::span<const TokenId> tokens, int period) {
  int32_t run = 0;
  for (size_t i = tokens.size(); i > static_cast<size_t>(period); --i, ++run) {
    if (tokens[i - 1] != tokens[i - 1 - static_cast<size_t>(period)]) break;
  }
  return run;
}

enum class Verdict { kNone, kSuspect, kCertain };

// The table applied to text: of the shortest period of each repeated ending.
Verdict VerdictByScanning(std::span<const TokenId> tokens) {
  Verdict verdict = Verdict::kNone;
  for (int p = 1; p <= RepetitionGuard::kMaxPeriod; ++p) {
    const int32_t run = RunByScanning(tokens, p);
    if (run < RepetitionGuard::SuspectTokens(p)) continue;
    bool shorter = false;
    for (int q = 1; q < p && !shorter; ++q) shorter = RunByScanning(tokens, q) + q >= run + p;
    if (shorter) continue;
    if (run >= RepetitionGuard::CertainTokens(p)) return Verdict::kCertain;
    verdict = Verdict::kSuspect;
  }
  return verdict;
}

Verdict VerdictOf(const RepetitionGuard& guard, const std::optional<Loop>& loop) {
  if (loop) return Verdict::kCertain;
  return guard.suspect() ? Verdict::kSuspect : Verdict::kNone;
}

// Copies of what stood a few places before, for long stretches.
Tokens RandomStream(uint32_t seed, int length, uint32_t longest_period) {
  std::mt19937 rng(seed);
  const auto number = [&](uint32_t below) { return static_cast<uint32_t>(rng() % below); };
  const uint32_t alphabet = 1 + number(4);
  const uint32_t breaks = 4U << number(6);  // a mistake in so many
  size_t period = 1 + number(longest_period);
  Tokens tokens;
  for (int i = 0; i < length; ++i) {
    if (number(100) == 0) period = 1 + number(longest_period);
    const bool copies = tokens.size() >= period && number(breaks) != 0;
    tokens.push_back(copies ? tokens[tokens.size() - period]
                            : static_cast<TokenId>(number(alphabet)));
  }
  return tokens;
}

TEST(RepetitionGuard, ItsCountersAndVerdictsAreThoseOfAScan) {
  int seen[3] = {};
  for (uint32_t seed = 1; seed <= 2000; ++seed) {
    const Tokens tokens = RandomStream(seed, 400, 40);
    const size_t looked_at = 1 + seed % 37;  // scanning after each token takes too long
    RepetitionGuard guard;
    for (size_t n = 1; n <= tokens.size(); ++n) {
      const auto decided = std::span(tokens).first(n);
      const auto loop = guard.Push(decided, {}, Always(UnitKind::kText));
      for (int p = 1 + static_cast<int>(n % 50); p <= 400; p += 50) {
        ASSERT_EQ(guard.run(p), RunByScanning(decided, p)) << "seed " << seed << ", period " << p;
      }
      if (n % 37 != looked_at % 37) continue;
      const Verdict verdict = VerdictByScanning(decided);
      ++seen[static_cast<size_t>(verdict)];
      ASSERT_EQ(VerdictOf(guard, loop), verdict) << "seed " << seed << ", " << n << " tokens";
    }
  }
  for (const int count : seen) EXPECT_GT(count, 300);
}

TEST(RepetitionGuard, LongPeriodsAreCountedOverAllTokens) {
  for (uint32_t seed = 1; seed <= 5; ++seed) {
    const Tokens tokens = RandomStream(seed, 5000, 1100);
    RepetitionGuard guard;
    for (size_t n = 1; n <= tokens.size(); ++n) {
      const auto decided = std::span(tokens).first(n);
      guard.Push(decided, {}, Always(UnitKind::kText));
      if (n % 61 != 0) continue;
      for (int p = 1; p <= RepetitionGuard::kMaxPeriod; ++p) {
        ASSERT_EQ(guard.run(p), RunByScanning(decided, p)) << "seed " << seed << ", period " << p;
      }
    }
  }
}

// `count` tokens of a unit of `period` different ones, from its token `first` on.
Tokens Repeated(int period, int64_t count, int first = 0) {
  Tokens tokens;
  for (int64_t i = 0; i < count; ++i) {
    tokens.push_back(100 + static_cast<TokenId>((first + i) % period));
  }
  return tokens;
}

// How many tokens there are when the guard is first certain, and first suspects; -1: never.
struct Times {
  int64_t suspect = -1;
  int64_t certain = -1;
  Loop loop;
};

Times TimesOf(const Tokens& tokens, const Limits& limits, const RepetitionGuard::Classify& kind) {
  Times times;
  RepetitionGuard guard;
  for (size_t n = 1; n <= tokens.size() && times.certain < 0; ++n) {
    const auto loop = guard.Push(std::span(tokens).first(n), limits, kind);
    if (guard.suspect() && times.suspect < 0) times.suspect = static_cast<int64_t>(n);
    if (!loop) continue;
    times.certain = static_cast<int64_t>(n);
    times.loop = *loop;
  }
  return times;
}

TEST(RepetitionGuard, EveryThresholdIsThatOfTheTable) {
  struct Row {
    int period;
    int suspect, certain;  // repeated tokens
  };
  const Row rows[] = {{1, 32, 96},      {2, 48, 128},    {4, 48, 128},      {5, 30, 60},
                      {16, 96, 192},    {17, 68, 136},   {64, 256, 512},    {65, 195, 325},
                      {256, 768, 1280}, {257, 514, 771}, {1024, 2048, 3072}};
  for (const Row& row : rows) {
    const Times times = TimesOf(Repeated(row.period, 5000), {}, Always(UnitKind::kText));
    EXPECT_EQ(times.suspect, row.suspect + row.period) << row.period;
    EXPECT_EQ(times.certain, row.certain + row.period) << row.period;
    EXPECT_EQ(times.loop.period, row.period);
    EXPECT_EQ(times.loop.start, 0);
  }
  EXPECT_EQ(TimesOf(Repeated(1025, 9000), {}, Always(UnitKind::kText)).suspect, -1);
}

TEST(RepetitionGuard, ALoopBeginsWhereThePeriodDoes) {
  const Tokens other = {1, 2, 3, 4, 5, 6, 7};
  for (int before = 0; before <= 7; ++before) {
    for (int first = 0; first < 6; ++first) {
      Tokens tokens(other.begin(), other.begin() + before);
      const Tokens unit = Repeated(6, 600, first);
      tokens.insert(tokens.end(), unit.begin(), unit.end());
      const Times times = TimesOf(tokens, {}, Always(UnitKind::kText));
      EXPECT_EQ(times.loop.start, before) << "from " << first;
      EXPECT_EQ(times.loop.period, 6);
    }
  }
}

TEST(RepetitionGuard, AUnitMayBeginInTheTextBefore) {
  // "... 104 105" stood there by chance before the unit 100 .. 105 began.
  Tokens tokens = {1, 2, 3, 104, 105};
  const Tokens unit = Repeated(6, 600);
  tokens.insert(tokens.end(), unit.begin(), unit.end());
  EXPECT_EQ(TimesOf(tokens, {}, Always(UnitKind::kText)).loop.start, 3);
}

TEST(RepetitionGuard, TextThatOnlyResemblesIsNoLoop) {
  Tokens rows;  // "row 1", "row 2", ...
  for (int row = 0; row < 800; ++row) {
    for (int i = 0; i < 5; ++i) rows.push_back(i);
    rows.push_back(5000 + row);
  }
  const Times times = TimesOf(rows, {}, Always(UnitKind::kText));
  EXPECT_EQ(times.suspect, -1);
  EXPECT_EQ(times.certain, -1);
}

TEST(RepetitionGuard, ALoopThatEndsIsForgotten) {
  Tokens tokens = Repeated(3, 200);
  RepetitionGuard guard;
  for (size_t n = 1; n <= tokens.size(); ++n) {
    guard.Push(std::span(tokens).first(n), {}, Always(UnitKind::kText));
  }
  EXPECT_TRUE(guard.suspect());
  tokens.push_back(1);
  EXPECT_FALSE(guard.Push(tokens, {}, Always(UnitKind::kText)));
  EXPECT_FALSE(guard.suspect());
}

TEST(RepetitionGuard, LeadersMayBeLonger) {
  const auto leader = Always(UnitKind::kLeader);
  EXPECT_EQ(TimesOf(Repeated(1, 2000), {}, leader).certain, 512 + 1);
  EXPECT_EQ(TimesOf(Repeated(1, 2000), {}, leader).suspect, 32 + 1);
  EXPECT_EQ(TimesOf(Repeated(2, 2000), {}, leader).certain, 512 + 2);
  EXPECT_EQ(TimesOf(Repeated(300, 3000), {}, leader).certain, 900 + 300);
}

// A blank form as a table in HTML: a row is <tr>, <td> and </td> for each cell, </tr>.
Tokens BlankForm(int rows, int cells) {
  Tokens tokens;
  for (int r = 0; r < rows; ++r) {
    tokens.push_back(1);
    for (int c = 0; c < cells; ++c) tokens.insert(tokens.end(), {2, 3});
    tokens.push_back(4);
  }
  return tokens;
}

UnitKind KindOfForm(std::span<const TokenId> unit) {
  static constexpr const char* kTexts[] = {"", "<tr>", "<td>", "</td>", "</tr>\n", "kg"};
  std::string text;
  for (const TokenId id : unit) text += kTexts[id];
  return ClassifyUnit(text);
}

TEST(RepetitionGuard, ABlankFormMayHaveTheRowsThatTheImageHasRoomFor) {
  const Tokens form = BlankForm(40, 12);
  const auto certain = [&](int width, int height) {
    return TimesOf(form, Limits::OfImage(width, height), KindOfForm).certain;
  };
  EXPECT_EQ(certain(1000, 1400), -1);
  EXPECT_EQ(certain(1000, 320), -1) << "40 rows";
  EXPECT_EQ(certain(1000, 319), 40 * 26) << "room for 39";
  EXPECT_EQ(certain(100, 100), 13 * 26) << "room for 12";
  EXPECT_EQ(certain(8, 8), 8 * 26 + 26) << "never sooner than text";
  EXPECT_EQ(TimesOf(form, {}, KindOfForm).certain, 8 * 26 + 26) << "room not known";
  EXPECT_EQ(TimesOf(form, Limits::OfImage(1000, 1400), KindOfForm).suspect, 4 * 26 + 26);
}

TEST(RepetitionGuard, AFormWithTextInItsRowsIsJudgedAsText) {
  Tokens form;
  for (int r = 0; r < 40; ++r) {
    const Tokens row = {1, 2, 3, 2, 5, 3, 4};
    form.insert(form.end(), row.begin(), row.end());
  }
  EXPECT_EQ(TimesOf(form, Limits::OfImage(1000, 1400), KindOfForm).certain, 84 + 7);
}

TEST(RepetitionGuard, ARowMayHaveTheCellsThatTheImageHasRoomFor) {
  const Tokens row = BlankForm(1, 300);
  const auto certain = [&](int width, int height) {
    return TimesOf(row, Limits::OfImage(width, height), KindOfForm).certain;
  };
  EXPECT_EQ(certain(2400, 100), -1);
  EXPECT_EQ(certain(1000, 5000), 1 + 126 * 2);
}

TEST(RepetitionGuard, ClassifiesAUnitOnce) {
  int asked = 0;
  const auto counting = [&](std::span<const TokenId> unit) {
    ++asked;
    return KindOfForm(unit);
  };
  Tokens forms = BlankForm(40, 12);
  TimesOf(Tokens(forms.begin(), forms.begin() + 233), {1000, 1000}, counting);
  EXPECT_EQ(asked, 0);
  TimesOf(forms, {1000, 1000}, counting);
  EXPECT_EQ(asked, 1);
  // Text between two forms: the second is another text.
  asked = 0;
  const Tokens second = forms;
  forms.push_back(5);
  forms.insert(forms.end(), second.begin(), second.end());
  TimesOf(forms, {1000, 1000}, counting);
  EXPECT_EQ(asked, 2);
}

TEST(RepetitionGuard, ForgetsWhatItClassifiedWithItsTokens) {
  const Tokens tokens = Repeated(1, 200);
  RepetitionGuard guard;
  const auto verdict = [&](UnitKind kind) {
    std::optional<Loop> loop;
    for (size_t n = 1; n <= tokens.size(); ++n) {
      loop = guard.Push(std::span(tokens).first(n), {}, Always(kind));
    }
    return loop.has_value();
  };
  EXPECT_FALSE(verdict(UnitKind::kLeader));
  EXPECT_TRUE(verdict(UnitKind::kText));  // from one token on again
}

// Rounds decide one token or several; the guard is told of each while more of them are there.
TEST(RepetitionGuard, TheVerdictDoesNotDependOnTheRounds) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const Tokens tokens = RandomStream(seed, 600, 30);
    const int64_t alone = TimesOf(tokens, {}, Always(UnitKind::kText)).certain;
    std::mt19937 rng(seed);
    RepetitionGuard guard;
    int64_t in_rounds = -1;
    Tokens decided;
    for (size_t end = 0; end < tokens.size() && in_rounds < 0;) {
      const size_t begin = end;
      end = std::min(tokens.size(), end + 1 + rng() % 9);
      decided.assign(tokens.begin(), tokens.begin() + static_cast<ptrdiff_t>(end));
      for (size_t n = begin + 1; n <= end && in_rounds < 0; ++n) {
        const auto newest = std::span(decided).first(n);
        if (guard.Push(newest, {}, Always(UnitKind::kText))) in_rounds = static_cast<int64_t>(n);
      }
    }
    EXPECT_EQ(in_rounds, alone) << "seed " << seed;
  }
}

TEST(RepetitionGuard, ReadsAllAgainWhenTokensWereTakenBackOrLeftOut) {
  for (uint32_t seed = 1; seed <= 50; ++seed) {
    const Tokens tokens = RandomStream(seed, 600, 30);
    std::mt19937 rng(seed);
    RepetitionGuard guard;
    for (int i = 0; i < 40; ++i) {
      const auto decided = std::span(tokens).first(1 + rng() % tokens.size());
      RepetitionGuard fresh;
      std::optional<Loop> expected;
      for (size_t n = 1; n <= decided.size(); ++n) {
        expected = fresh.Push(decided.first(n), {}, Always(UnitKind::kText));
      }
      const auto loop = guard.Push(decided, {}, Always(UnitKind::kText));
      ASSERT_EQ(VerdictOf(guard, loop), VerdictOf(fresh, expected)) << "seed " << seed;
      for (int p = 1; p <= 100; ++p) ASSERT_EQ(guard.run(p), fresh.run(p)) << "seed " << seed;
    }
    guard.Reset();
    EXPECT_EQ(guard.run(1), 0);
    EXPECT_FALSE(guard.suspect());
    EXPECT_FALSE(guard.Push({}, {}, Always(UnitKind::kText)));
  }
}

}  // namespace
}  // namespace platen
