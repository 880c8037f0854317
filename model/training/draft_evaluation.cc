#include "model/training/draft_evaluation.h"

#include <algorithm>
#include <cassert>
#include <map>

#include "model/engine/random_stream.h"

namespace platen {
namespace {

constexpr int64_t kRowsAtOnce = 256;
constexpr int kResamples = 1000;

TokenId Best(const float* logits, int64_t n) {
  return static_cast<TokenId>(std::max_element(logits, logits + n) - logits);
}

// Rounds with `drafts` drafts, by document.
std::map<std::string, Rounds> ByDocument(std::span<const PageHits> pages, int drafts) {
  std::map<std::string, Rounds> documents;
  for (const PageHits& page : pages) documents[page.document].Add(Replay(page, drafts));
  return documents;
}

}  // namespace

PageHits HitsOf(const TrainingPage& page, int steps, EngineDraft& draft) {
  PageHits result = {page.document, page.length() - page.prompt, {}};
  std::vector<Matrix<float>> vectors;
  draft.Vectors(page, steps, vectors);
  Matrix<float> logits;
  for (int d = 0; d < steps; ++d) {
    const Matrix<float>& rows = vectors[static_cast<size_t>(d)];
    std::vector<uint8_t>& hits = result.hits.emplace_back();
    for (int64_t first = 0; first < rows.rows(); first += kRowsAtOnce) {
      const int64_t count = std::min(kRowsAtOnce, rows.rows() - first);
      logits.Resize(count, draft.vocab_size());
      draft.Logits(rows.View().Rows(first, count), logits);
      for (int64_t r = 0; r < count; ++r) {
        const auto label = static_cast<size_t>(page.prompt - 1 + first + r + d + 2);
        hits.push_back(Best(logits.Row(r), logits.cols()) == page.ids[label] ? 1 : 0);
      }
    }
  }
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

// The first token comes with the prompt. Behind e decided tokens a round drafts from row e - 1; as
// many as are right are kept, and the target decides one more.
Rounds Replay(const PageHits& page, int drafts) {
  Rounds rounds;
  rounds.made.resize(static_cast<size_t>(drafts));
  rounds.right.resize(static_cast<size_t>(drafts));
  for (int64_t decided = 1; decided < page.answer;) {
    const auto row = static_cast<size_t>(decided - 1);
    int64_t kept = 0;
    for (size_t d = 0; d < static_cast<size_t>(drafts) && row < page.hits[d].size(); ++d) {
      ++rounds.made[d];
      if (page.hits[d][row] == 0) break;
      ++rounds.right[d];
      ++kept;
    }
    const int64_t tokens = std::min(kept + 1, page.answer - decided);
    ++rounds.rounds;
    rounds.tokens += tokens;
    decided += tokens;
  }
  return rounds;
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

Verdict Judge(const Gain& gain) {
  if (gain.documents < kFewestDocuments) return Verdict::kTooFewToTell;
  return gain.low > 0 ? Verdict::kBetter : Verdict::kNoGain;
}

}  // namespace platen
