#include "model/training/draft_evaluation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>

#include "model/engine/random_stream.h"

namespace platen {
namespace {

constexpr int64_t kRowsAtOnce = 256;
constexpr int kResamples = 1000;

TokenId Best(std::span<const float> logits) {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

TokenId BestOf(std::span<const float> logits, std::span<const TokenId> vocabulary) {
  return *std::max_element(vocabulary.begin(), vocabulary.end(), [&](TokenId a, TokenId b) {
    return logits[static_cast<size_t>(a)] < logits[static_cast<size_t>(b)];
  });
}

// Rounds with `drafts` drafts, by document.
std::map<std::string, Rounds> ByDocument(std::span<const PageHits> pages, int drafts) {
  std::map<std::string, Rounds> documents;
  for (const PageHits& page : pages) documents[page.document].Add(Replay(page, drafts));
  return documents;
}

// Calls visit(d, logits, label) for the draft of step d from each slot, in order.
template <typename Visit>
void ForEachDraft(const TrainingPage& held, int steps, EngineDraft& draft, const Visit& visit) {
  const WholePage page(held);
  std::vector<Matrix<float>> vectors;
  draft.Vectors(*page, steps, vectors);
  Matrix<float> logits;
  for (int d = 0; d < steps; ++d) {
    const Matrix<float>& rows = vectors[static_cast<size_t>(d)];
    for (int64_t first = 0; first < rows.rows(); first += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows.rows() - first);
      logits.Resize(count, draft.vocab_size());
      draft.Logits(rows.View().Rows(first, count), logits);
      for (int64_t r = 0; r < count; ++r) {
        const auto label = static_cast<size_t>(page->prompt - 1 + first + r + d + 2);
        const std::span row(logits.Row(r), static_cast<size_t>(logits.cols()));
        visit(static_cast<size_t>(d), std::span<const float>(row), page->ids[label]);
      }
    }
  }
}

PageHits NoHits(const TrainingPage& page, int steps) {
  return {page.document, page.length() - page.prompt,
          std::vector<std::vector<uint8_t>>(static_cast<size_t>(steps))};
}

DraftedToken Drafted(std::span<const float> logits, TokenId label) {
  const TokenId best = Best(logits);
  const float most = logits[static_cast<size_t>(best)];
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - most));
  const double of_label = std::exp(static_cast<double>(logits[static_cast<size_t>(label)] - most));
  return {best, static_cast<float>(1 / sum), static_cast<float>(of_label / sum)};
}

// The first token comes with the prompt. Behind e decided tokens a round drafts from row e - 1; as
// many as are right are kept, and the target decides one more. Calls visit(row, kept, missed):
// whether a wrong draft ended the round.
template <typename Visit>
void ForEachRound(const PageHits& page, int drafts, const Visit& visit) {
  for (int64_t decided = 1; decided < page.answer;) {
    const auto row = static_cast<size_t>(decided - 1);
    int64_t kept = 0;
    bool missed = false;
    for (size_t d = 0; d < static_cast<size_t>(drafts) && row < page.hits[d].size(); ++d) {
      missed = page.hits[d][row] == 0;
      if (missed) break;
      ++kept;
    }
    visit(decided - 1, kept, missed);
    decided += std::min(kept + 1, page.answer - decided);
  }
}

}  // namespace

PageHits HitsOf(const TrainingPage& page, int steps, EngineDraft& draft,
                std::span<const TokenId> vocabulary) {
  PageHits result = NoHits(page, steps);
  ForEachDraft(page, steps, draft, [&](size_t d, std::span<const float> logits, TokenId label) {
    const TokenId best = vocabulary.empty() ? Best(logits) : BestOf(logits, vocabulary);
    result.hits[d].push_back(best == label ? 1 : 0);
  });
  return result;
}

PageDrafts DraftsOf(const TrainingPage& page, int steps, EngineDraft& draft) {
  PageDrafts result = {NoHits(page, steps), {}};
  result.drafts.resize(static_cast<size_t>(steps));
  ForEachDraft(page, steps, draft, [&](size_t d, std::span<const float> logits, TokenId label) {
    result.drafts[d].push_back(Drafted(logits, label));
    result.hits.hits[d].push_back(result.drafts[d].back().token == label ? 1 : 0);
  });
  return result;
}

void Rounds::Add(const Rounds& other) {
  rounds += other.rounds;
  tokens += other.tokens;
  made.resize(std::max(made.size(), other.made.size()));
  right.resize(made.size());
  for (size_t i = 0; i < other.made.size(); ++i) {
    made[i] += other.made[i];
    right[i] += other.right[i];
  }
}

Rounds Replay(const PageHits& page, int drafts) {
  Rounds rounds;
  rounds.made.resize(static_cast<size_t>(drafts));
  rounds.right.resize(static_cast<size_t>(drafts));
  ForEachRound(page, drafts, [&](int64_t row, int64_t kept, bool missed) {
    for (int64_t d = 0; d < kept + (missed ? 1 : 0); ++d) ++rounds.made[static_cast<size_t>(d)];
    for (int64_t d = 0; d < kept; ++d) ++rounds.right[static_cast<size_t>(d)];
    ++rounds.rounds;
    rounds.tokens += std::min(kept + 1, page.answer - row - 1);
  });
  return rounds;
}

std::vector<TokenFate> FatesOf(const PageHits& page, int drafts) {
  using Kind = TokenFate::Kind;
  std::vector<TokenFate> fates(static_cast<size_t>(page.answer));
  ForEachRound(page, drafts, [&](int64_t row, int64_t kept, bool missed) {
    for (int64_t d = 0; d <= kept && row + 1 + d < page.answer; ++d) {
      const Kind kind = d < kept ? Kind::kAccepted : missed ? Kind::kRejected : Kind::kTarget;
      fates[static_cast<size_t>(row + 1 + d)] = {kind, row, static_cast<int>(d)};
    }
  });
  return fates;
}

Acceptance AcceptanceOf(std::span<const PageHits> pages, int steps) {
  Acceptance acceptance;
  const auto n = static_cast<size_t>(steps);
  acceptance.tried.resize(n);
  acceptance.right.resize(n);
  acceptance.rounds.resize(n);
  for (const PageHits& page : pages) {
    for (size_t k = 0; k < n; ++k) {
      acceptance.rounds[k].Add(Replay(page, static_cast<int>(k) + 1));
    }
    for (size_t r = 0; n > 0 && r < page.hits[0].size(); ++r) {
      for (size_t d = 0; d < n && r < page.hits[d].size(); ++d) {
        ++acceptance.tried[d];
        if (page.hits[d][r] == 0) break;
        ++acceptance.right[d];
      }
    }
  }
  return acceptance;
}

Gain BootstrapGain(std::span<const PageHits> before, std::span<const PageHits> after, int drafts,
                   uint64_t seed) {
  const auto old_rounds = ByDocument(before, drafts), new_rounds = ByDocument(after, drafts);
  std::vector<std::pair<Rounds, Rounds>> documents;
  for (const auto& [name, rounds] : old_rounds) documents.emplace_back(rounds, new_rounds.at(name));
  const auto gain_of = [&](const auto& pick) {
    Rounds a, b;
    for (size_t i = 0; i < documents.size(); ++i) {
      const auto& [x, y] = documents[pick(i)];
      a.Add(x);
      b.Add(y);
    }
    return b.tokens_per_round() - a.tokens_per_round();
  };
  Gain gain;
  gain.documents = static_cast<int>(documents.size());
  if (documents.empty()) return gain;
  gain.mean = gain_of([](size_t i) { return i; });
  std::vector<double> resampled;
  for (int n = 0; n < kResamples; ++n) {
    NoiseAt noise(seed, n, Noise::kPlain);
    resampled.push_back(gain_of([&](size_t i) {
      const double u = noise.Uniform(static_cast<uint32_t>(i));
      return static_cast<size_t>(u * static_cast<double>(documents.size()));
    }));
  }
  std::sort(resampled.begin(), resampled.end());
  gain.low = resampled[kResamples * 25 / 1000];
  gain.high = resampled[kResamples * 975 / 1000 - 1];
  return gain;
}

}  // namespace platen
