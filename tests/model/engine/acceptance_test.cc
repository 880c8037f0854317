// Which drafts are kept: the same text, or the same distribution of texts, whatever is drafted.
#include "model/engine/acceptance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "model/support/fixed_math.h"
#include "tests/support/toy_model.h"

namespace platen::testing {
namespace {

using Tokens = std::vector<TokenId>;

std::vector<float> RowsAfter(const ToyModel& toy, Tokens tokens, const Tokens& drafts) {
  std::vector<float> rows = toy.Logits(tokens);
  for (const TokenId draft : drafts) {
    tokens.push_back(draft);
    const std::vector<float> row = toy.Logits(tokens);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  return rows;
}

Tokens Distinct(const Tokens& tokens) {
  Tokens distinct;
  for (const TokenId id : tokens) {
    if (std::find(distinct.begin(), distinct.end(), id) == distinct.end()) distinct.push_back(id);
  }
  return distinct;
}

// One round of a request that has decided `tokens`: the tokens it decides.
struct Round {
  Tokens decided;
  int accepted = 0;
};
Round Decide(const ToyModel& toy, const SamplingOptions& options, const Tokens& tokens,
             const Tokens& drafts, const std::vector<TokenDistribution>& distributions,
             AcceptanceScratch& scratch) {
  std::vector<float> rows = RowsAfter(toy, tokens, drafts);
  const Tokens seen = Distinct(tokens);
  const auto count = static_cast<int64_t>(drafts.size()) + 1;
  std::vector<SampledToken> decided(drafts.size() + 1);
  const TokenContext first = {.seen = seen, .place = static_cast<int64_t>(tokens.size())};
  Round round;
  round.accepted = DecideTokens(options, first, {drafts, distributions},
                                {rows.data(), count, toy.vocab, toy.vocab}, scratch, decided);
  for (int j = 0; j <= round.accepted; ++j) {
    round.decided.push_back(decided[static_cast<size_t>(j)].index);
  }
  return round;
}

Tokens DecodePlainly(const ToyModel& toy, const SamplingOptions& options, size_t length) {
  AcceptanceScratch scratch(BestKernels());
  Tokens tokens;
  while (tokens.size() < length) {
    tokens.push_back(Decide(toy, options, tokens, {}, {}, scratch).decided.front());
  }
  return tokens;
}

TEST(Acceptance, ExactGivesTheTextOfPlainDecodingWhateverIsDrafted) {
  std::mt19937 rng(5);
  AcceptanceScratch scratch(BestKernels());
  int64_t accepted = 0, refused = 0;
  for (int request = 0; request < 3000; ++request) {
    const ToyModel toy = {.vocab = 2 + static_cast<int>(rng() % 20), .seed = rng(), .spread = 3};
    const float temperatures[] = {0.0F, 0.2F, 0.7F, 1.0F, 1.5F};
    SamplingOptions options;
    options.temperature = temperatures[rng() % 5];
    options.top_k = rng() % 3 == 0 ? 3 : 0;
    options.top_p = rng() % 3 == 0 ? 0.8F : 1.0F;
    options.repetition_penalty = rng() % 3 == 0 ? 1.3F : 1.0F;
    options.seed = rng();
    constexpr size_t kLength = 24;
    const Tokens plain = DecodePlainly(toy, options, kLength + 8);
    Tokens tokens;
    while (tokens.size() < kLength) {
      Tokens drafts;
      for (auto k = rng() % 6; k > 0; --k) {
        const bool right = rng() % 10 < 7;
        drafts.push_back(right ? plain[tokens.size() + drafts.size()]
                               : static_cast<TokenId>(rng() % static_cast<unsigned>(toy.vocab)));
      }
      const Round round = Decide(toy, options, tokens, drafts, {}, scratch);
      accepted += round.accepted;
      refused += static_cast<int64_t>(drafts.size()) - round.accepted;
      tokens.insert(tokens.end(), round.decided.begin(), round.decided.end());
    }
    ASSERT_TRUE(std::equal(tokens.begin(), tokens.begin() + kLength, plain.begin()))
        << "request " << request;
  }
  EXPECT_GT(accepted, 10000);
  EXPECT_GT(refused, 10000);
}

TEST(Acceptance, ExactKeepsTheLongestPrefixTheTargetAgreesWithAndSaysItsChoiceAtEveryRow) {
  const ToyModel toy = {.vocab = 6};
  const Tokens plain = DecodePlainly(toy, {}, 4);
  AcceptanceScratch scratch(BestKernels());
  const auto wrong = [&](size_t place) { return (plain[place] + 1) % 6; };
  EXPECT_EQ(Decide(toy, {}, {}, {plain[0], plain[1]}, {}, scratch).accepted, 2);
  EXPECT_EQ(Decide(toy, {}, {}, {plain[0], wrong(1)}, {}, scratch).accepted, 1);
  EXPECT_EQ(Decide(toy, {}, {}, {wrong(0), plain[1]}, {}, scratch).accepted, 0);
  std::vector<float> rows = RowsAfter(toy, {}, {wrong(0), plain[1]});
  std::vector<SampledToken> decided(3);
  const Tokens drafts = {wrong(0), plain[1]};
  DecideTokens({}, {}, {drafts, {}}, {rows.data(), 3, 6, 6}, scratch, decided);
  for (const SampledToken& token : decided) EXPECT_GE(token.index, 0);
}

TEST(Acceptance, ARowThatIsNoNumberEndsTheDecisions) {
  AcceptanceScratch scratch(BestKernels());
  const ToyModel toy = {.vocab = 6};
  for (const AcceptanceRule rule :
       {AcceptanceRule::kExact, AcceptanceRule::kRejection, AcceptanceRule::kTypical}) {
    const SamplingOptions options = {.temperature = 1, .seed = 3, .acceptance = rule};
    const Tokens plain = DecodePlainly(toy, {.temperature = 1, .seed = 3}, 2);
    std::vector<float> rows = RowsAfter(toy, {}, {plain[0]});
    rows[0] = std::nanf("");
    std::vector<SampledToken> decided(2);
    EXPECT_EQ(DecideTokens(options, {}, {{plain.data(), 1}, {}}, {rows.data(), 2, 6, 6}, scratch,
                           decided),
              0);
    EXPECT_EQ(decided[0].index, -1);
  }
}

// ------------------------------------------------------------------------- distributions

// What is drafted, from what, and how it is judged.
struct Trial {
  const char* name;
  std::vector<double> target, draft;  // chances of the tokens at the first place
  bool soft = true;                   // drafted from `draft`; else always its most likely token
};

std::vector<float> LogitsOf(const std::vector<double>& chances) {
  std::vector<float> logits;
  for (const double p : chances) {
    logits.push_back(p > 0 ? static_cast<float>(std::log(p))
                           : -std::numeric_limits<float>::infinity());
  }
  return logits;
}

TokenDistribution DistributionOf(const std::vector<double>& chances) {
  TokenDistribution distribution;
  double total = 0;
  for (const double p : chances) total += p;
  for (size_t id = 0; id < chances.size(); ++id) {
    if (chances[id] <= 0) continue;
    distribution.ids.push_back(static_cast<TokenId>(id));
    distribution.probabilities.push_back(chances[id] / total);
  }
  return distribution;
}

TokenId Draw(const TokenDistribution& distribution, uint64_t seed, int64_t place) {
  const double u = NoiseAt(seed, place, Noise::kDraft).Uniform(0);
  double mass = 0;
  for (size_t i = 0; i < distribution.ids.size(); ++i) {
    mass += distribution.probabilities[i];
    if (u < mass) return distribution.ids[i];
  }
  return distribution.ids.back();
}

constexpr int kDraws = 200000;

// How often pairs (first token, second token) are decided, first by one draft and what follows it.
// The second place has the target's chances in the other order. `judge` decides a round.
using Judge = std::function<int(const SamplingOptions& options, const JudgedDrafts& drafts,
                                MatView rows, std::span<SampledToken> decided)>;

struct Counted {
  std::map<std::pair<TokenId, TokenId>, int64_t> pairs;
  int64_t accepted = 0;
};

Counted Count(const Trial& trial, const Judge& judge) {
  const auto vocab = static_cast<int64_t>(trial.target.size());
  const TokenDistribution from = DistributionOf(trial.draft);
  const auto top = std::max_element(trial.draft.begin(), trial.draft.end()) - trial.draft.begin();
  std::vector<double> reversed(trial.target.rbegin(), trial.target.rend());
  const std::vector<float> first = LogitsOf(trial.target), second = LogitsOf(reversed);
  Counted counted;
  AcceptanceScratch scratch(BestKernels());
  for (int i = 0; i < kDraws; ++i) {
    const SamplingOptions options = {.temperature = 1,
                                     .seed = static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15ULL,
                                     .acceptance = AcceptanceRule::kRejection};
    const Tokens drafts = {trial.soft ? Draw(from, options.seed, 0) : static_cast<TokenId>(top)};
    std::vector<TokenDistribution> distributions;
    if (trial.soft) distributions.push_back(from);
    std::vector<float> rows = first;
    rows.insert(rows.end(), second.begin(), second.end());
    SampledToken decided[2];
    const int accepted =
        judge(options, {drafts, distributions}, {rows.data(), 2, vocab, vocab}, decided);
    counted.accepted += accepted;
    if (accepted == 0) {  // the second token comes with the next round
      std::vector<float> row = second;
      decided[1] = scratch.sampler.Sample(options, {.place = 1}, {row.data(), 1, vocab, vocab});
    }
    ++counted.pairs[{decided[0].index, decided[1].index}];
  }
  return counted;
}

int Rejection(const SamplingOptions& options, const JudgedDrafts& drafts, MatView rows,
              std::span<SampledToken> decided) {
  static AcceptanceScratch scratch(BestKernels());
  return DecideTokens(options, {}, drafts, rows, scratch, decided);
}

// The mistake that is easily made: after a refusal the token is drawn from the target, not from
// what is left of it.
int DrawsFromTheTarget(const SamplingOptions& options, const JudgedDrafts& drafts, MatView rows,
                       std::span<SampledToken> decided) {
  static AcceptanceScratch scratch(BestKernels());
  std::vector<float> row(rows.Row(0), rows.Row(0) + rows.cols);
  const int accepted = DecideTokens(options, {}, drafts, rows, scratch, decided);
  if (accepted == 0) {
    scratch.sampler.Begin(options, {}, {row.data(), 1, rows.cols, rows.cols});
    decided[0] = scratch.sampler.Chosen(Noise::kResidual);
  }
  return accepted;
}

// The other one: accepting and drawing again with the same noise.
int JudgesWithTheNoiseOfTheDraft(const SamplingOptions& options, const JudgedDrafts& drafts,
                                 MatView rows, std::span<SampledToken> decided) {
  static AcceptanceScratch scratch(BestKernels());
  std::vector<float> row(rows.Row(0), rows.Row(0) + rows.cols);
  scratch.sampler.Begin(options, {}, {row.data(), 1, rows.cols, rows.cols});
  TokenDistribution target;
  scratch.sampler.Distribution(target);
  const TokenId draft = drafts.tokens[0];
  const double q = drafts.distributions.empty() ? 1 : drafts.distributions[0].Of(draft);
  const bool keep = NoiseAt(options.seed, 0, Noise::kDraft).Uniform(0) * q < target.Of(draft);
  if (!keep) {
    DecideTokens(options, {}, drafts, rows, scratch, decided);
    return 0;
  }
  decided[0] = {draft, 0};
  row.assign(rows.Row(1), rows.Row(1) + rows.cols);
  TokenContext second;
  second.place = 1;
  decided[1] = scratch.sampler.Sample(options, second, {row.data(), 1, rows.cols, rows.cols});
  return 1;
}

// Chance that chi-square with so many degrees of freedom is beyond x: by the recurrence of the
// upper incomplete gamma function, from one or two degrees on.
double ChiSquareTail(double x, int df) {
  int k = df % 2 == 0 ? 2 : 1;
  double tail = k == 2 ? std::exp(-x / 2) : std::erfc(std::sqrt(x / 2));
  for (; k < df; k += 2) {
    tail += std::exp(k / 2.0 * std::log(x / 2) - x / 2 - std::lgamma(k / 2.0 + 1));
  }
  return tail;
}

struct Fit {
  double chi_square = 0;
  int cells = 0;
  // The right distribution gives this less than once in a million times.
  bool Refused() const { return cells > 1 && ChiSquareTail(chi_square, cells - 1) < 1e-6; }
};

// Values of the tables in print.
TEST(ChiSquareTail, IsThatOfTheTables) {
  EXPECT_NEAR(ChiSquareTail(18.48, 7), 1e-2, 1e-4);
  EXPECT_NEAR(ChiSquareTail(40.52, 7) / 1e-6, 1, 0.01);
  EXPECT_NEAR(ChiSquareTail(56.49, 15) / 1e-6, 1, 0.01);
  EXPECT_NEAR(ChiSquareTail(131.37, 63) / 1e-6, 1, 0.01);
  EXPECT_NEAR(ChiSquareTail(3.841, 1), 0.05, 1e-4);
  EXPECT_NEAR(ChiSquareTail(5.991, 2), 0.05, 1e-4);
}

// Pairs that are expected less than five times count as one cell.
Fit FitOf(const Trial& trial, const Counted& counted) {
  const TokenDistribution target = DistributionOf(trial.target);
  const auto last = static_cast<TokenId>(trial.target.size()) - 1;
  Fit fit;
  double rare_expected = 0, rare_seen = 0;
  for (TokenId a = 0; a <= last; ++a) {
    for (TokenId b = 0; b <= last; ++b) {
      const double expected = target.Of(a) * target.Of(last - b) * kDraws;
      const auto found = counted.pairs.find({a, b});
      const double seen = found == counted.pairs.end() ? 0 : static_cast<double>(found->second);
      if (expected == 0 && seen > 0) return {1e9, 2};
      if (expected < 5) {
        rare_expected += expected;
        rare_seen += seen;
        continue;
      }
      fit.chi_square += (seen - expected) * (seen - expected) / expected;
      ++fit.cells;
    }
  }
  if (rare_expected >= 5) {
    fit.chi_square += std::pow(rare_seen - rare_expected, 2) / rare_expected;
    ++fit.cells;
  }
  return fit;
}

std::vector<Trial> Trials() {
  std::vector<Trial> trials = {
      {"worked example", {.5, .3, .2}, {.6, .3, .1}},
      {"worked example, argmax", {.5, .3, .2}, {.6, .3, .1}, false},
      {"equal", {.4, .3, .2, .1}, {.4, .3, .2, .1}},
      {"disjoint", {.5, .5, 0, 0}, {0, 0, .5, .5}},
      {"a hole in the draft", {.25, .25, .25, .25}, {.5, .5, 0, 0}},
      {"a hole in the target", {.5, .5, 0, 0}, {.25, .25, .25, .25}},
      {"the target is sure", {0, 1, 0}, {.3, .4, .3}},
      {"the draft is sure", {.3, .4, .3}, {0, 1, 0}},
      {"argmax of a flat one", {.1, .2, .3, .4}, {.26, .25, .25, .24}, false},
  };
  std::mt19937 rng(17);
  for (const int vocab : {8, 8, 16, 64}) {
    Trial trial = {"random", {}, {}};
    for (int id = 0; id < vocab; ++id) {
      const auto chance = [&] {
        return rng() % 4 == 0 ? 0.0 : std::exp(static_cast<double>(rng() % 1000) / 250.0);
      };
      trial.target.push_back(chance());
      trial.draft.push_back(chance());
    }
    trials.push_back(trial);
  }
  return trials;
}

TEST(Acceptance, RejectionGivesTheTargetsDistribution) {
  for (const Trial& trial : Trials()) {
    const Counted counted = Count(trial, Rejection);
    const Fit fit = FitOf(trial, counted);
    EXPECT_FALSE(fit.Refused()) << trial.name << ": " << fit.chi_square << " over " << fit.cells;
    // As many drafts are kept as the two distributions have in common.
    const TokenDistribution p = DistributionOf(trial.target), q = DistributionOf(trial.draft);
    double common = 0;
    for (const TokenId id : p.ids) common += std::min(p.Of(id), q.Of(id));
    const auto top = std::max_element(trial.draft.begin(), trial.draft.end());
    if (!trial.soft) common = p.Of(static_cast<TokenId>(top - trial.draft.begin()));
    EXPECT_NEAR(static_cast<double>(counted.accepted) / kDraws, common,
                5 * std::sqrt(0.25 / kDraws))
        << trial.name;
  }
}

TEST(Acceptance, TheTestOfTheDistributionNoticesMistakes) {
  for (const auto& [name, judge] :
       {std::pair<const char*, Judge>{"draws from the target", DrawsFromTheTarget},
        {"the draft's noise", JudgesWithTheNoiseOfTheDraft}}) {
    int noticed = 0;
    for (const Trial& trial : Trials()) noticed += FitOf(trial, Count(trial, judge)).Refused();
    EXPECT_GE(noticed, 5) << name;
  }
  // A certain draft that comes as if it were drawn: the worked example gives (.83, 0, .17).
  const Trial certain = Trials()[1];
  const std::vector<TokenDistribution> as_if_drawn = {DistributionOf(certain.draft)};
  const auto pretends = [&](const SamplingOptions& options, const JudgedDrafts& drafts,
                            MatView rows, std::span<SampledToken> decided) {
    return Rejection(options, {drafts.tokens, as_if_drawn}, rows, decided);
  };
  EXPECT_TRUE(FitOf(certain, Count(certain, pretends)).Refused());
}

// The other way round nothing is wrong, only fewer drafts are kept: given the draft, its chance
// does not matter.
TEST(Acceptance, ADrawnDraftMayBeJudgedAsIfItWereCertain) {
  const Trial drawn = Trials()[0];
  const auto hides = [](const SamplingOptions& options, const JudgedDrafts& drafts, MatView rows,
                        std::span<SampledToken> decided) {
    return Rejection(options, {drafts.tokens, {}}, rows, decided);
  };
  EXPECT_FALSE(FitOf(drawn, Count(drawn, hides)).Refused());
}

// Typical acceptance keeps what the target finds likely enough, and so gives another distribution.
TEST(Acceptance, TypicalKeepsLikelyDraftsAndIsNotLossless) {
  const std::vector<double> target = {.7, .2, .07, .03};
  double entropy = 0;
  for (const double p : target) entropy -= p * std::log(p);
  const double least = std::min(0.09, 0.3 * std::exp(-entropy));
  AcceptanceScratch scratch(BestKernels());
  for (TokenId draft = 0; draft < 4; ++draft) {
    int accepted = 0;
    for (uint64_t seed = 0; seed < 50; ++seed) {
      std::vector<float> rows = LogitsOf(target);
      const std::vector<float> second = rows;
      rows.insert(rows.end(), second.begin(), second.end());
      const SamplingOptions options = {
          .temperature = 1, .seed = seed, .acceptance = AcceptanceRule::kTypical};
      SampledToken decided[2];
      accepted +=
          DecideTokens(options, {}, {{&draft, 1}, {}}, {rows.data(), 2, 4, 4}, scratch, decided);
    }
    EXPECT_EQ(accepted, target[static_cast<size_t>(draft)] >= least ? 50 : 0) << draft;
  }
  const SamplingOptions typical = {.temperature = 1, .acceptance = AcceptanceRule::kTypical};
  EXPECT_FALSE(typical.lossless());
  const Trial trial = {"typical", target, {.1, .8, .05, .05}, false};
  const auto judge = [&](SamplingOptions options, const JudgedDrafts& drafts, MatView rows,
                         std::span<SampledToken> decided) {
    options.acceptance = AcceptanceRule::kTypical;
    return DecideTokens(options, {}, drafts, rows, scratch, decided);
  };
  EXPECT_TRUE(FitOf(trial, Count(trial, judge)).Refused());
}

}  // namespace
}  // namespace platen::testing
