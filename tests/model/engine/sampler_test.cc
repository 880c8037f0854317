// A token chosen from a row, against the slow and obvious version.
#include "model/engine/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "model/support/fixed_math.h"
#include "model/support/error.h"
#include "tests/support/toy_model.h"

namespace platen::testing {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

// Everything sorted, everything summed.
struct PlainSampler {
  SamplingOptions options;
  std::vector<TokenId> history = {};  // with drafts
  std::vector<TokenId> banned = {};
  int64_t place = 0;

  // Tokens that are kept with their logits, ids ascending.
  std::vector<std::pair<TokenId, float>> Kept(std::vector<float> logits) const {
    const std::set<TokenId> distinct(history.begin(), history.end());
    for (const TokenId id : distinct) {
      float& z = logits[static_cast<size_t>(id)];
      if (options.repetition_penalty == 1.0F) continue;
      z = z > 0 ? z / options.repetition_penalty : z * options.repetition_penalty;
    }
    for (const TokenId id : banned) logits[static_cast<size_t>(id)] = kNever;
    std::vector<std::pair<TokenId, float>> all;
    for (size_t i = 0; i < logits.size(); ++i) {
      if (logits[i] > kNever) all.emplace_back(static_cast<TokenId>(i), logits[i]);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    if (options.greedy()) {
      all.resize(std::min<size_t>(1, all.size()));
      return all;
    }
    if (options.top_k > 0 && all.size() > static_cast<size_t>(options.top_k)) {
      all.resize(static_cast<size_t>(options.top_k));
    }
    if (options.top_p < 1 && !all.empty()) KeepNucleus(all);
    std::sort(all.begin(), all.end());
    return all;
  }

  void KeepNucleus(std::vector<std::pair<TokenId, float>>& all) const {
    std::vector<std::pair<TokenId, float>> by_id = all;
    std::sort(by_id.begin(), by_id.end());
    double total = 0;
    for (const auto& [id, z] : by_id) total += Weight(z, all.front().second);
    double mass = 0;
    size_t keep = 0;
    while (keep == 0 || (keep < all.size() && mass < static_cast<double>(options.top_p) * total)) {
      mass += Weight(all[keep++].second, all.front().second);
    }
    all.resize(keep);
  }

  double Weight(float z, float top) const {
    return FixedExp((static_cast<double>(z) - static_cast<double>(top)) /
                    static_cast<double>(options.temperature));
  }

  TokenId Choose(const std::vector<float>& logits) const {
    const auto kept = Kept(logits);
    if (options.greedy()) return kept.empty() ? -1 : kept.front().first;
    TokenId best = -1;
    double best_score = 0;
    for (const auto& [id, z] : kept) {
      const double u =
          NoiseAt(options.seed, place, Noise::kPlain).Uniform(static_cast<uint32_t>(id));
      const double score = static_cast<double>(z) / static_cast<double>(options.temperature) -
                           FixedLog(-FixedLog(1 - u));
      if (best < 0 || score > best_score) {
        best = id;
        best_score = score;
      }
    }
    return best;
  }
};

SamplingOptions RandomOptions(std::mt19937& rng) {
  SamplingOptions options;
  const auto pick = [&](auto... values) {
    const float all[] = {static_cast<float>(values)...};
    return all[rng() % std::size(all)];
  };
  options.temperature = pick(0.0, 0.2, 0.7, 1.0, 1.5);
  options.top_k = static_cast<int>(pick(0, 0, 1, 2, 5, 1000));
  options.top_p = pick(1.0, 1.0, 0.01, 0.5, 0.9, 0.999);
  options.repetition_penalty = pick(1.0, 1.0, 1.1, 2.0, 0.5);
  options.seed = rng();
  return options;
}

TEST(TokenSampler, IsTheSlowAndObviousVersion) {
  std::mt19937 rng(11);
  TokenSampler sampler(BestKernels());
  for (int round = 0; round < 20000; ++round) {
    const ToyModel toy = {.vocab = 1 + static_cast<int>(rng() % 70), .seed = rng()};
    PlainSampler plain = {.options = RandomOptions(rng), .place = static_cast<int64_t>(rng() % 50)};
    std::vector<TokenId> seen, drafts;
    for (auto i = rng() % 6; i > 0; --i) {
      const auto id = static_cast<TokenId>(rng() % static_cast<unsigned>(toy.vocab));
      if (std::find(seen.begin(), seen.end(), id) == seen.end()) seen.push_back(id);
    }
    for (auto i = rng() % 4; i > 0; --i) {
      drafts.push_back(static_cast<TokenId>(rng() % static_cast<unsigned>(toy.vocab)));
    }
    for (auto i = rng() % 3; i > 0; --i) {
      plain.banned.push_back(static_cast<TokenId>(rng() % static_cast<unsigned>(toy.vocab)));
    }
    plain.history = seen;
    plain.history.insert(plain.history.end(), drafts.begin(), drafts.end());
    const std::vector<float> logits = toy.Logits({});
    std::vector<float> row = logits;
    const TokenContext context = {.seen = seen,
                                  .drafts = drafts,
                                  .banned = plain.banned,
                                  .banned_places = plain.place + 1,
                                  .place = plain.place};
    const SampledToken token =
        sampler.Sample(plain.options, context, {row.data(), 1, toy.vocab, toy.vocab});
    ASSERT_EQ(token.index, plain.Choose(logits)) << "round " << round;
    if (token.index < 0) continue;
    double sum = 0;
    for (const float z : logits) sum += std::exp(static_cast<double>(z));
    const double probability =
        std::exp(static_cast<double>(logits[static_cast<size_t>(token.index)])) / sum;
    ASSERT_NEAR(static_cast<double>(token.probability), probability, 1e-5);
  }
}

TEST(TokenSampler, GreedyWithoutAnythingElseIsTheKernelsChoiceBitForBit) {
  TokenSampler sampler(BestKernels());
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<float> logits = ToyModel{.vocab = 500, .seed = seed}.Logits({});
    std::vector<float> row = logits;
    const SampledToken token = sampler.Sample({}, {}, {row.data(), 1, 500, 500});
    const Selection kernel = BestKernels().select(logits.data(), 500);
    EXPECT_EQ(token.index, kernel.index);
    EXPECT_EQ(token.probability, kernel.probability);
    EXPECT_EQ(row, logits);
  }
}

TEST(TokenSampler, DrawsByTheDistributionThatItStates) {
  std::vector<float> logits = {0.5F, -1.0F, 2.0F, 0.0F, 1.5F, -3.0F};
  TokenSampler sampler(BestKernels());
  SamplingOptions options = {.temperature = 0.8F, .top_k = 5, .top_p = 0.97F};
  TokenDistribution distribution;
  constexpr int kDraws = 200000;
  std::vector<int> drawn(logits.size(), 0);
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> row = logits;
    options.seed = static_cast<uint64_t>(i) * 7919;
    ++drawn[static_cast<size_t>(sampler.Sample(options, {}, {row.data(), 1, 6, 6}).index)];
  }
  std::vector<float> row = logits;
  ASSERT_TRUE(sampler.Begin(options, {}, {row.data(), 1, 6, 6}));
  sampler.Distribution(distribution);
  double chi_square = 0, total = 0;
  for (size_t id = 0; id < logits.size(); ++id) {
    const double p = distribution.Of(static_cast<TokenId>(id));
    total += p;
    if (p == 0) {
      EXPECT_EQ(drawn[id], 0) << id;
      continue;
    }
    chi_square += std::pow(drawn[id] - p * kDraws, 2) / (p * kDraws);
  }
  EXPECT_NEAR(total, 1, 1e-12);
  EXPECT_LT(chi_square, 40.52);  // 7 degrees of freedom at 1e-6; here are fewer
}

TEST(TokenSampler, ARowThatIsNoNumberOrHasNothingLeftGivesNoToken) {
  TokenSampler sampler(BestKernels());
  std::vector<float> nan = {1.0F, std::nanf(""), 2.0F};
  EXPECT_EQ(sampler.Sample({}, {}, {nan.data(), 1, 3, 3}).index, -1);
  const std::vector<TokenId> all = {0, 1, 2};
  for (const float temperature : {0.0F, 1.0F}) {
    std::vector<float> row = {1.0F, 0.0F, 2.0F};
    const TokenContext context = {.banned = all, .banned_places = 1};
    EXPECT_EQ(sampler.Sample({.temperature = temperature}, context, {row.data(), 1, 3, 3}).index,
              -1);
  }
}

TEST(TokenSampler, IdsThatTheTokenizerDoesNotKnowAreNeverDrawn) {
  TokenSampler sampler(BestKernels());
  for (uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<float> row = {0.0F, 0.0F, 9.0F};
    const SampledToken token =
        sampler.Sample({.temperature = 1, .seed = seed}, {.known_ids = 2}, {row.data(), 1, 3, 3});
    EXPECT_LT(token.index, 2);
  }
}

TEST(SamplingOptions, ThatMakeNoSenseAreRefusedByName) {
  const auto refused = [](const SamplingOptions& options) {
    try {
      CheckSamplingOptions(options);
    } catch (const Error& error) {
      return error.location().field;
    }
    return std::string();
  };
  EXPECT_EQ(refused({}), "");
  EXPECT_EQ(refused({.temperature = -1}), "temperature");
  EXPECT_EQ(refused({.temperature = std::nanf("")}), "temperature");
  EXPECT_EQ(refused({.top_k = -1}), "top_k");
  EXPECT_EQ(refused({.top_p = 0}), "top_p");
  EXPECT_EQ(refused({.top_p = 1.1F}), "top_p");
  EXPECT_EQ(refused({.repetition_penalty = 0}), "repetition_penalty");
  EXPECT_EQ(refused({.acceptance = AcceptanceRule::kRejection}), "acceptance");
  EXPECT_EQ(refused({.temperature = 1, .acceptance = AcceptanceRule::kRejection}), "");
  for (const char* name : {"exact", "rejection", "typical"}) {
    EXPECT_STREQ(AcceptanceRuleName(*FindAcceptanceRule(name)), name);
  }
  EXPECT_FALSE(FindAcceptanceRule("greedy").has_value());
}

}  // namespace
}  // namespace platen::testing
