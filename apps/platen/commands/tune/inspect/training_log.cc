#include "apps/platen/commands/tune/inspect/training_log.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/platen/commands/tune/work_folder.h"
#include "model/engine/engine_options.h"
#include "pipeline/record_lines.h"

namespace platen {
namespace {

constexpr int64_t kMostSteps = 1'000'000'000;
constexpr double kMostValue = 1e6;

struct Step {
  std::vector<double> losses;
  std::optional<double> tokens_per_round;
};

std::optional<double> Number(const nlohmann::json& json) {
  if (!json.is_number()) return std::nullopt;
  const auto value = json.get<double>();
  if (!(value >= 0 && value <= kMostValue)) return std::nullopt;
  return value;
}

void TakeLine(const std::string& line, std::map<int64_t, Step>& steps) {
  const auto json = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) return;
  const auto number = json["step"].get<int64_t>();
  if (number < 1 || number > kMostSteps) return;
  Step step;
  if (json.contains("loss_of_draft") && json["loss_of_draft"].is_array()) {
    for (const auto& loss : json["loss_of_draft"]) {
      const auto value = Number(loss);
      if (!value || std::ssize(step.losses) == kMaxDraftLength) break;
      step.losses.push_back(*value);
    }
  }
  if (json.contains("tokens_per_round")) step.tokens_per_round = Number(json["tokens_per_round"]);
  steps.insert_or_assign(number, std::move(step));
}

}  // namespace

TrainingCurves ReadTrainingLog(const Folder& train) {
  std::map<int64_t, Step> steps;
  ForEachLineOf(train, WorkFolder::kLog, [&](const std::string& line) { TakeLine(line, steps); });
  TrainingCurves curves;
  for (const auto& [number, step] : steps) {
    curves.steps = number;
    curves.loss_of_draft.resize(std::max(curves.loss_of_draft.size(), step.losses.size()));
    for (size_t d = 0; d < step.losses.size(); ++d) {
      curves.loss_of_draft[d].push_back({number, step.losses[d]});
    }
    if (step.tokens_per_round) curves.tokens_per_round.push_back({number, *step.tokens_per_round});
  }
  return curves;
}

Curve Thinned(const Curve& curve, size_t most) {
  if (curve.size() <= most) return curve;
  Curve thin;
  for (size_t i = 0; i < most; ++i) {
    const size_t first = i * curve.size() / most, end = (i + 1) * curve.size() / most;
    double sum = 0;
    for (size_t j = first; j < end; ++j) sum += curve[j].value;
    thin.push_back({curve[(first + end - 1) / 2].step, sum / static_cast<double>(end - first)});
  }
  return thin;
}

}  // namespace platen
