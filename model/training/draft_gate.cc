#include "model/training/draft_gate.h"

#include <algorithm>
#include <map>
#include <set>

namespace platen {
namespace {

struct Group {
  std::set<std::string> documents;
  Rounds before, after;

  void Add(const PageHits& page_before, const PageHits& page_after, int drafts) {
    documents.insert(page_before.document);
    before.Add(Replay(page_before, drafts));
    after.Add(Replay(page_after, drafts));
  }
  GroupGain Result(const std::string& name) const {
    return {name, static_cast<int>(documents.size()), before.tokens_per_round(),
            after.tokens_per_round()};
  }
};

std::vector<GroupGain> ByClass(const HitsOfSet& judged, int drafts) {
  std::map<std::string, Group> classes;
  for (size_t i = 0; i < judged.before.size(); ++i) {
    classes[ClassOf(judged.before[i].document)].Add(judged.before[i], judged.after[i], drafts);
  }
  std::vector<GroupGain> gains;
  for (const auto& [name, group] : classes) gains.push_back(group.Result(name));
  return gains;
}

std::optional<GroupGain> OfAll(const HitsOfSet& set, int drafts) {
  if (set.before.empty()) return std::nullopt;
  Group all;
  for (size_t i = 0; i < set.before.size(); ++i) all.Add(set.before[i], set.after[i], drafts);
  return all.Result("general");
}

double TokensPerCost(double tokens, const RoundCost& cost, int drafts) {
  return tokens / (cost.target + drafts * cost.draft);
}

bool Loses(const GroupGain& group) { return group.change() < -kMostLoss; }

Verdict VerdictOf(const GateOutcome& outcome) {
  if (outcome.gain.documents < kFewestDocuments) return Verdict::kTooFewToTell;
  if (!(outcome.gain.low > 0)) return Verdict::kNoGain;
  const bool class_loses = std::any_of(
      outcome.classes.begin(), outcome.classes.end(),
      [](const GroupGain& group) { return group.documents >= kFewestDocuments && Loses(group); });
  if (class_loses) return Verdict::kClassLoses;
  if (outcome.general && Loses(*outcome.general)) return Verdict::kGeneralLoses;
  return outcome.speed < 1 ? Verdict::kNotFaster : Verdict::kBetter;
}

}  // namespace

std::string ClassOf(const std::string& document) {
  const size_t slash = document.rfind('/');
  return slash == std::string::npos || slash == 0 ? "." : document.substr(0, slash);
}

GateOutcome JudgeDrafts(const HitsOfSet& judged, const HitsOfSet& general, int drafts,
                        const RoundCost& before, const RoundCost& after, uint64_t seed) {
  GateOutcome outcome;
  outcome.gain = BootstrapGain(judged.before, judged.after, drafts, seed);
  outcome.classes = ByClass(judged, drafts);
  outcome.general = OfAll(general, drafts);
  if (const auto all = OfAll(judged, drafts); all && all->before > 0) {
    outcome.speed =
        TokensPerCost(all->after, after, drafts) / TokensPerCost(all->before, before, drafts);
  }
  outcome.verdict = VerdictOf(outcome);
  return outcome;
}

}  // namespace platen
