// How the tokens of a request are chosen: values only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace platen {

// When a draft is kept.
enum class AcceptanceRule {
  // As far as drafts are what the target chooses itself: the text of plain decoding, token for
  // token, also with a temperature ("coupled": both draw with the same noise).
  kExact,
  // With the chance the target gives it over the chance the drafter gave it, else another token is
  // drawn from what is left (Leviathan et al. 2023, Chen et al. 2023): the same distribution of
  // texts, not the same text.
  kRejection,
  // If the target finds it likely enough (Cai et al. 2024, "Medusa"): another distribution. Lossy.
  kTypical,
};

// "exact", "rejection", "typical".
const char* AcceptanceRuleName(AcceptanceRule rule);
std::optional<AcceptanceRule> FindAcceptanceRule(std::string_view name);

struct SamplingOptions {
  float temperature = 0;         // below kGreedyTemperature: the most likely token
  int top_k = 0;                 // of the most likely tokens; 0: all
  float top_p = 1;               // of the most likely tokens that together have this chance
  float repetition_penalty = 1;  // 1: none
  uint64_t seed = 0;             // of the request's noise
  AcceptanceRule acceptance = AcceptanceRule::kExact;

  static constexpr float kGreedyTemperature = 1e-4F;
  bool greedy() const { return temperature < kGreedyTemperature; }
  // The text depends on speculation.
  bool lossless() const { return greedy() || acceptance == AcceptanceRule::kExact; }
};

// Throws Error(kUsage) naming the field, its value and what is allowed.
void CheckSamplingOptions(const SamplingOptions& options);

}  // namespace platen
