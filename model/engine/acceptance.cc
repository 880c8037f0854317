#include "model/engine/acceptance.h"

#include <algorithm>
#include <cassert>

#include "model/support/fixed_math.h"

namespace platen {
namespace {

// The constants of Medusa's authors (FasterDecoding/Medusa, `posterior_threshold` 0.09,
// `posterior_alpha` 0.3).
constexpr double kTypicalMost = 0.09;
constexpr double kTypicalShare = 0.3;

// The row of draft j, or the one behind the last.
class Judge {
 public:
  Judge(const SamplingOptions& options, const TokenContext& first, const JudgedDrafts& drafts,
        MatView rows, AcceptanceScratch& scratch)
      : options_(options), first_(first), drafts_(drafts), rows_(rows), scratch_(scratch) {}

  int Exact(std::span<SampledToken> decided) {
    size_t accepted = 0;
    bool agree = true;
    for (size_t j = 0; j < decided.size(); ++j) {
      decided[j] = Begin(j) ? scratch_.sampler.Chosen() : SampledToken{-1, 0};
      agree = agree && j < drafts_.tokens.size() && decided[j].index == drafts_.tokens[j];
      accepted += agree ? 1 : 0;
    }
    return static_cast<int>(accepted);
  }

  template <typename Keep>
  int OneByOne(const Keep& keep, std::span<SampledToken> decided) {
    for (size_t j = 0;; ++j) {
      if (!Begin(j)) {
        decided[j] = {-1, 0};
        return static_cast<int>(j);
      }
      if (j == drafts_.tokens.size()) {
        decided[j] = scratch_.sampler.Chosen();
        return static_cast<int>(j);
      }
      scratch_.sampler.Distribution(scratch_.target);
      if (!keep(j, decided[j])) return static_cast<int>(j);
      decided[j] = scratch_.sampler.Token(drafts_.tokens[j]);
    }
  }

  // Leviathan et al. 2023: keep with min(1, p / q), else draw from max(p - q, 0).
  int Rejection(std::span<SampledToken> decided) {
    return OneByOne(
        [&](size_t j, SampledToken& instead) {
          const double p = scratch_.target.Of(drafts_.tokens[j]);
          const double q = DraftChance(j, drafts_.tokens[j]);
          NoiseAt noise(options_.seed, first_.place + static_cast<int64_t>(j), Noise::kAccept);
          if (q > 0 && noise.Uniform(0) * q < p) return true;
          Subtract(j);
          instead = scratch_.sampler.DrawFrom(scratch_.residual, Noise::kResidual);
          return false;
        },
        decided);
  }

  // Cai et al. 2024: keep if p >= min(most, share * exp(-entropy)).
  int Typical(std::span<SampledToken> decided) {
    return OneByOne(
        [&](size_t j, SampledToken& instead) {
          double entropy = 0;
          for (const double p : scratch_.target.probabilities) {
            if (p > 0) entropy -= p * FixedLog(p);
          }
          const double least = std::min(kTypicalMost, kTypicalShare * FixedExp(-entropy));
          if (scratch_.target.Of(drafts_.tokens[j]) >= least) return true;
          instead = scratch_.sampler.Chosen();
          return false;
        },
        decided);
  }

 private:
  bool Begin(size_t j) {
    TokenContext context = first_;
    context.drafts = drafts_.tokens.first(j);
    context.place += static_cast<int64_t>(j);
    return scratch_.sampler.Begin(options_, context, rows_.Rows(static_cast<int64_t>(j), 1));
  }

  double DraftChance(size_t j, TokenId id) const {
    if (drafts_.distributions.empty()) return id == drafts_.tokens[j] ? 1 : 0;
    return drafts_.distributions[j].Of(id);
  }

  // What the draft has not covered of the target's chances; all of them if nothing is left but
  // rounding.
  void Subtract(size_t j) {
    const TokenDistribution& target = scratch_.target;
    scratch_.residual.ids = target.ids;
    scratch_.residual.probabilities.clear();
    double left = 0;
    for (size_t i = 0; i < target.ids.size(); ++i) {
      const double p = std::max(target.probabilities[i] - DraftChance(j, target.ids[i]), 0.0);
      scratch_.residual.probabilities.push_back(p);
      left += p;
    }
    if (left <= 0) scratch_.residual.probabilities = target.probabilities;
  }

  const SamplingOptions& options_;
  const TokenContext& first_;
  const JudgedDrafts& drafts_;
  MatView rows_;
  AcceptanceScratch& scratch_;
};

}  // namespace

int DecideTokens(const SamplingOptions& options, const TokenContext& first,
                 const JudgedDrafts& drafts, MatView rows, AcceptanceScratch& scratch,
                 std::span<SampledToken> decided) {
  assert(rows.rows == std::ssize(drafts.tokens) + 1 && decided.size() == drafts.tokens.size() + 1);
  assert(drafts.distributions.empty() || drafts.distributions.size() == drafts.tokens.size());
  Judge judge(options, first, drafts, rows, scratch);
  if (options.lossless()) return judge.Exact(decided);
  return options.acceptance == AcceptanceRule::kRejection ? judge.Rejection(decided)
                                                          : judge.Typical(decided);
}

}  // namespace platen
