#include "model/engine/sampling_options.h"

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

constexpr std::array<std::pair<AcceptanceRule, const char*>, 3> kRules = {
    {{AcceptanceRule::kExact, "exact"},
     {AcceptanceRule::kRejection, "rejection"},
     {AcceptanceRule::kTypical, "typical"}}};

[[noreturn]] void Refuse(const char* field, float value, const char* allowed) {
  throw Error(ErrorKind::kUsage, {"", field},
              "must be " + std::string(allowed) + ", not " + std::to_string(value));
}

}  // namespace

const char* AcceptanceRuleName(AcceptanceRule rule) {
  for (const auto& [known, name] : kRules) {
    if (known == rule) return name;
  }
  return "";
}

std::optional<AcceptanceRule> FindAcceptanceRule(std::string_view name) {
  for (const auto& [rule, known] : kRules) {
    if (name == known) return rule;
  }
  return std::nullopt;
}

void CheckSamplingOptions(const SamplingOptions& o) {
  // Written so that what is not a number is refused.
  if (!(o.temperature >= 0 && o.temperature <= 100)) {
    Refuse("temperature", o.temperature, "from 0 to 100");
  }
  if (o.top_k < 0) Refuse("top_k", static_cast<float>(o.top_k), "0 (all tokens) or more");
  if (!(o.top_p > 0 && o.top_p <= 1)) Refuse("top_p", o.top_p, "above 0, at most 1");
  if (!(o.repetition_penalty > 0 && o.repetition_penalty <= 100)) {
    Refuse("repetition_penalty", o.repetition_penalty, "above 0, at most 100");
  }
  if (o.acceptance != AcceptanceRule::kExact && o.greedy()) {
    throw Error(ErrorKind::kUsage, {"", "acceptance"},
                std::string(AcceptanceRuleName(o.acceptance)) +
                    " needs a temperature: without one the most likely token is taken, and exact "
                    "is what there is");
  }
}

}  // namespace platen
