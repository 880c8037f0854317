// What platen tune-mtp evaluate has found, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/training/draft_gate.h"

namespace platen {

// Drafts of one kind on the documents that judge, and on the general set.
struct Side {
  std::string name;
  int steps = 0;
  std::vector<PageHits> hits, general;
  Acceptance acceptance;  // of the hits
  RoundCost cost;
};

struct EvaluationReport {
  const Side& before;
  const Side& after;
  const GateOutcome& outcome;
  int drafts = 0;  // a round, for which the outcome is
};

void PrintReport(const EvaluationReport& report);

// `head`: fields to begin with.
nlohmann::ordered_json JsonOf(const EvaluationReport& report, nlohmann::ordered_json head);

}  // namespace platen
