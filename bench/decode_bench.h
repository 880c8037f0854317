// Tokens per second of decoding, by the number of sequences at once, the number of drafts and how
// often they are right.
//
// Two workloads. With an oracle: every sequence has the same prompt of 128 tokens and goes on
// without an end; drafts are right with a given chance, and the draft layer's passes are really
// computed. With the model's own head: the crops of a page, so many at once, each to its own end;
// only the rounds are timed, not the prefills.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/spread.h"
#include "model/engine/engine_options.h"
#include "model/families/model.h"
#include "model/support/image.h"

namespace platen::bench {

struct DecodeRow {
  int64_t sequences = 0;
  int drafts = 0;         // per round at most; kAdaptive: as many as pay
  double acceptance = 0;  // of the oracle; 0: the model's own head
  Spread tokens_per_s;
  Spread speedup;                // over plain decoding in the same repetition
  double tokens_per_round = 0;   // of one sequence
  double accepted_share = 0;     // of the drafts that were verified
  double first_draft_share = 0;  // of first drafts
  double rows_per_step = 0;
  double draft_share = 0;  // of the rounds' time
  double verify_share = 0;
  double overhead_share = 0;  // neither of the two
  // What the passes that were timed predict: tokens of a round at the oracle's chance over the time
  // of its passes; measured speed as a share of it. 0: not known (own head, adaptive).
  double share_of_prediction = 0;

  static constexpr int kAdaptive = -1;
};

struct DecodeBenchOptions {
  std::vector<int64_t> batches = {1, 2, 4, 8, 16, 32};
  std::vector<int> drafts = {0, 1, 2, 3, 4, DecodeRow::kAdaptive};
  std::vector<double> acceptances = {0.8};
  WarmUp warm_up = WarmUp::kAuto;
  DrafterChoice drafters = DrafterChoice::kAuto;  // without the oracle
  std::vector<TokenId> draft_vocabulary;          // of the draft layer; empty: all tokens
  int tokens = 24;                                // per sequence and repetition
  int repetitions = 5;
};

// Works in the arena of the calling thread.
std::vector<DecodeRow> RunOracleBench(const Model& model, const DecodeBenchOptions& options);

// `crops`: what a page is read from, `task` the prompt. `acceptances` of the options is not looked
// at.
std::vector<DecodeRow> RunHeadBench(const Model& model, const std::vector<Image>& crops,
                                    const std::string& task, const DecodeBenchOptions& options);

}  // namespace platen::bench
