#include "model/engine/repetition_guard.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace platen {
namespace {

using Tokens = std::vector<TokenId>;

UnitKind AlwaysText(std::span<const TokenId>) { return UnitKind::kText; }

// Pushes one token after the other; the number of tokens at which a loop is seen, -1: never.
int64_t LoopAfter(const Tokens& tokens, const RepetitionGuard::Room& room, UnitKind kind,
                  Loop* loop = nullptr) {
  RepetitionGuard guard;
  for (size_t n = 1; n <= tokens.size(); ++n) {
    const auto found = guard.Push(std::span(tokens).first(n), room, [&](auto) { return kind; });
    if (!found) continue;
    if (loop != nullptr) *loop = *found;
    return static_cast<int64_t>(n);
  }
  return -1;
}

Tokens Repeated(int period, int64_t count, TokenId first = 100) {
  Tokens tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(first + static_cast<TokenId>(i % period));
  return tokens;
}

TEST(RepetitionGuard, ItsCountersAreThoseOfTheObviousVersion) {
  std::mt19937 rng(3);
  for (int stream = 0; stream < 300; ++stream) {
    const auto alphabet = 1 + rng() % 3;
    Tokens tokens;
    RepetitionGuard guard;
    for (int i = 0; i < 120; ++i) {
      // Copies of what was, most of the time.
      const size_t back = 1 + rng() % 9;
      tokens.push_back(tokens.size() >= back && rng() % 8 != 0
                           ? tokens[tokens.size() - back]
                           : static_cast<TokenId>(rng() % alphabet));
      guard.Push(tokens, {}, AlwaysText);
      for (int p = 1; p <= 60; ++p) {
        int64_t run = 0;
        while (static_cast<int64_t>(tokens.size()) - 1 - run - p >= 0 &&
               tokens[tokens.size() - 1 - static_cast<size_t>(run)] ==
                   tokens[tokens.size() - 1 - static_cast<size_t>(run) - static_cast<size_t>(p)]) {
          ++run;
        }
        ASSERT_EQ(guard.run(p), run) << "stream " << stream << ", period " << p;
      }
    }
  }
}

TEST(RepetitionGuard, ALoopOfTextIsSeenAtItsThresholdAndNotBefore) {
  for (const int period : {1, 2, 4, 5, 16, 17, 64, 65, 256, 257, 1024}) {
    const int64_t tokens = RepetitionGuard::TextTokens(period) + period;
    Loop loop;
    EXPECT_EQ(LoopAfter(Repeated(period, 5000), {}, UnitKind::kText, &loop), tokens) << period;
    EXPECT_EQ(loop.period, period);
    EXPECT_EQ(loop.start, 0);
    EXPECT_EQ(loop.repeats, tokens / period);
  }
  EXPECT_EQ(LoopAfter(Repeated(1025, 6000), {}, UnitKind::kText), -1);
}

TEST(RepetitionGuard, TheLoopBeginsWhereTheTextBeganToRepeat) {
  for (const int before : {0, 1, 7, 50}) {
    Tokens tokens;
    for (int i = 0; i < before; ++i) tokens.push_back(1000 + i);
    const Tokens unit = Repeated(6, 600);
    tokens.insert(tokens.end(), unit.begin() + 2, unit.end());  // it may begin within a unit
    Loop loop;
    ASSERT_GT(LoopAfter(tokens, {}, UnitKind::kText, &loop), 0);
    EXPECT_EQ(loop.start, before);
    EXPECT_EQ(loop.period, 6);
  }
}

TEST(RepetitionGuard, AlmostRepeatedTextIsNoLoop) {
  Tokens rows;  // "row 1", "row 2", ...
  for (int row = 0; row < 800; ++row) {
    for (int i = 0; i < 5; ++i) rows.push_back(i);
    rows.push_back(5000 + row);
  }
  EXPECT_EQ(LoopAfter(rows, {}, UnitKind::kText), -1);
}

TEST(RepetitionGuard, LeadersMayBeLong) {
  EXPECT_EQ(LoopAfter(Repeated(1, 2000), {}, UnitKind::kLeader), RepetitionGuard::kLeaderTokens);
  EXPECT_EQ(LoopAfter(Repeated(1, 500), {}, UnitKind::kLeader), -1);
}

TEST(RepetitionGuard, AnEmptyTableMayHaveAsManyRowsAsTheImageHasRoomFor) {
  // 40 rows of 12 empty cells, 26 tokens a row, as the specification of the format has them.
  const Tokens form = Repeated(26, 40 * 26);
  EXPECT_EQ(LoopAfter(form, {1000, 1400}, UnitKind::kRows), -1);
  EXPECT_EQ(LoopAfter(form, {1000, 160}, UnitKind::kRows), 21 * 26);
  EXPECT_GT(LoopAfter(form, {}, UnitKind::kRows), 0);
  EXPECT_EQ(LoopAfter(Repeated(2, 2 * 120), {1000, 1400}, UnitKind::kCells), -1);
  EXPECT_EQ(LoopAfter(Repeated(2, 2 * 200), {1000, 1400}, UnitKind::kCells), 2 * 126);
}

TEST(ClassifyUnit, SaysWhatAUnitIsMadeOf) {
  const std::pair<const char*, UnitKind> cases[] = {
      {".", UnitKind::kLeader},         {" . ", UnitKind::kLeader},
      {"–·…", UnitKind::kLeader},       {"-", UnitKind::kLeader},
      {"<td></td>", UnitKind::kCells},  {"<td colspan=\"2\"> </td>", UnitKind::kCells},
      {"| |", UnitKind::kCells},        {"<tr><td></td><td>&nbsp;</td></tr>\n", UnitKind::kRows},
      {"|   |---|\n", UnitKind::kRows}, {"<td>0</td>", UnitKind::kText},
      {"<p></p>", UnitKind::kText},     {"and so on ", UnitKind::kText},
      {"\n", UnitKind::kText},          {"", UnitKind::kText},
  };
  for (const auto& [text, kind] : cases) EXPECT_EQ(ClassifyUnit(text), kind) << text;
}

TEST(ClassifyUnit, DoesNotDependOnWhereTheUnitBegins) {
  for (const std::string unit :
       {"<tr><td></td><td class='a'>&nbsp;</td></tr>\n", "<td> </td>", "| | |\n", "<td>x</td>"}) {
    for (size_t turn = 0; turn < unit.size(); ++turn) {
      const std::string turned = unit.substr(turn) + unit.substr(0, turn);
      EXPECT_EQ(ClassifyUnit(turned), ClassifyUnit(unit)) << turned;
    }
  }
}

}  // namespace
}  // namespace platen
