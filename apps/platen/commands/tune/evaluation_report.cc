#include "apps/platen/commands/tune/evaluation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

std::string Cell(const Side& side, size_t d, bool rounds) {
  if (d >= side.acceptance.tried.size()) return "-";
  return rounds ? fmt::format("{:.3f}", side.acceptance.rounds[d].tokens_per_round())
                : fmt::format("{:.3f}", side.acceptance.conditional(d));
}

void PrintTable(const Side& before, const Side& after) {
  fmt::print("{:>6}  {:>9} {:>9}  {:>9} {:>9}\n", "draft", "right if those before it were", "",
             "tokens a round with so many", "");
  fmt::print("{:>6}  {:>14} {:>14}  {:>13} {:>13}\n", "", "before", "after", "before", "after");
  const size_t rows = std::max(before.acceptance.tried.size(), after.acceptance.tried.size());
  for (size_t d = 0; d < rows; ++d) {
    fmt::print("{:>6}  {:>14} {:>14}  {:>13} {:>13}\n", d + 1, Cell(before, d, false),
               Cell(after, d, false), Cell(before, d, true), Cell(after, d, true));
  }
}

const char* NameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kNoGain:
      return "no gain";
    case Verdict::kTooFewToTell:
      return "too few documents";
    case Verdict::kClassLoses:
      return "a class of documents loses";
    case Verdict::kGeneralLoses:
      return "the general set loses";
    case Verdict::kNotFaster:
      return "no faster";
  }
  return "";
}

std::string Sentence(const GateOutcome& outcome, int drafts) {
  const Gain& gain = outcome.gain;
  const std::string numbers = fmt::format(
      "{:+.3f} tokens a round with {}; 95 % of resamples of {} between {:+.3f} and "
      "{:+.3f}",
      gain.mean, Counted(drafts, "draft"), Counted(gain.documents, "document"), gain.low,
      gain.high);
  switch (outcome.verdict) {
    case Verdict::kBetter:
      return "better: " + numbers;
    case Verdict::kNoGain:
      return "no gain that is beyond chance: " + numbers;
    case Verdict::kTooFewToTell:
      return fmt::format("too few documents to tell, {} are needed: {}", kFewestDocuments, numbers);
    case Verdict::kClassLoses:
      return fmt::format("a class of documents loses more than {:.0f} %, though all together: {}",
                         100 * kMostLoss, numbers);
    case Verdict::kGeneralLoses:
      return fmt::format("the general set loses more than {:.0f} %, though these: {}",
                         100 * kMostLoss, numbers);
    case Verdict::kNotFaster:
      return fmt::format("no faster ({:.3f} times the speed, by the weights that are read): {}",
                         outcome.speed, numbers);
  }
  return numbers;
}

void PrintGroups(const GateOutcome& outcome, int drafts) {
  std::vector<GroupGain> groups =
      outcome.classes.size() > 1 ? outcome.classes : std::vector<GroupGain>();
  if (outcome.general) groups.push_back(*outcome.general);
  if (groups.empty()) return;
  fmt::print("\n{:<24} {:>9}  tokens a round with {}\n{:<24} {:>9}  {:>8} {:>8} {:>8}\n", "class",
             "documents", Counted(drafts, "draft"), "", "", "before", "after", "change");
  for (const GroupGain& group : groups) {
    fmt::print("{:<24} {:>9}  {:>8.3f} {:>8.3f} {:>+7.1f} %\n", DisplayName(group.name),
               group.documents, group.before, group.after, 100 * group.change());
  }
}

// How often drafts 1 .. j of a round are all right: with `drafts` of them, and beyond with as many.
std::vector<double> PrefixesOf(const Side& side, int drafts) {
  std::vector<double> chances;
  for (size_t j = 0; j < side.acceptance.rounds.size(); ++j) {
    const Rounds& rounds = side.acceptance.rounds[std::max(j, static_cast<size_t>(drafts) - 1)];
    const double chance = rounds.rounds == 0 ? 0
                                             : static_cast<double>(rounds.right[j]) /
                                                   static_cast<double>(rounds.rounds);
    chances.push_back(chances.empty() ? chance : std::min(chance, chances.back()));
  }
  return chances;
}

Json JsonOf(const Side& side) {
  Json json = {{"name", side.name}, {"conditional", Json::array()}, {"rounds", Json::array()}};
  for (size_t d = 0; d < side.acceptance.tried.size(); ++d) {
    json["conditional"].push_back(side.acceptance.conditional(d));
    const Rounds& rounds = side.acceptance.rounds[d];
    json["rounds"].push_back({{"drafts", d + 1},
                              {"rounds", rounds.rounds},
                              {"tokens", rounds.tokens},
                              {"tokens_per_round", rounds.tokens_per_round()},
                              {"made", rounds.made},
                              {"right", rounds.right}});
  }
  return json;
}

Json JsonOf(const GroupGain& group) {
  return {{"name", ToValidUtf8(group.name)},
          {"documents", group.documents},
          {"before", group.before},
          {"after", group.after}};
}

Json JsonOf(const GateOutcome& outcome) {
  Json classes = Json::array();
  for (const GroupGain& group : outcome.classes) classes.push_back(JsonOf(group));
  const Gain& gain = outcome.gain;
  return {{"documents", gain.documents},
          {"gain", {{"mean", gain.mean}, {"low", gain.low}, {"high", gain.high}}},
          {"classes", classes},
          {"general", outcome.general ? JsonOf(*outcome.general) : Json(nullptr)},
          {"speed", outcome.speed},
          {"verdict", NameOf(outcome.verdict)}};
}

}  // namespace

void PrintReport(const EvaluationReport& report) {
  PrintTable(report.before, report.after);
  PrintGroups(report.outcome, report.drafts);
  fmt::print("\n{}\n", Sentence(report.outcome, report.drafts));
}

Json JsonOf(const EvaluationReport& report, Json json) {
  json["drafts"] = report.drafts;
  json.update(JsonOf(report.outcome));
  json["acceptance"] = {{"own", PrefixesOf(report.before, report.drafts)},
                        {"these", PrefixesOf(report.after, report.drafts)}};
  json["before"] = JsonOf(report.before);
  json["after"] = JsonOf(report.after);
  return json;
}

}  // namespace platen
