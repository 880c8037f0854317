// The runs of docs/MTP.md: a table of what can be learned from made-up tokens, and how guesses of a
// text come on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "model/training/from_scratch/mtp_trainer.h"

namespace platen::bench {

struct TrainingOptions {
  MtpSizes sizes;
  int64_t steps = 1500;
  int64_t batch = 16;  // sequences per step
  double rate = 3e-3;  // a sixth of it in the last third
  uint64_t seed = 6200;
  int64_t test_sequences = 400;
};

// Called with what is about to run.
using Progress = std::function<void(const std::string&)>;

enum class MadeUp { kRandom, kTable };

struct TableRow {
  MadeUp data = MadeUp::kRandom;
  MtpHeads heads = MtpHeads::kCausal;
  MtpTarget target = MtpTarget::kNext;
  std::vector<MtpScore> repeats;  // with starting weights and data of their own
};

struct TableResult {
  std::vector<TableRow> rows;
  // One sequence of the table's tokens, by the chain of the first repeat.
  std::vector<TokenId> sequence;
  std::vector<MtpGuess> before, after;
};

TableResult RunTable(const TrainingOptions& options, const std::vector<MadeUp>& data, int repeats,
                     const Progress& progress);

struct CurvePoint {
  int64_t step = 0;
  double training_loss = 0;  // mean since the last point
  MtpScore held_out;
  std::vector<double> weights;
};

struct TextRun {
  std::string name;
  MtpHeads heads = MtpHeads::kCausal;
  DepthWeights weights;
  std::vector<CurvePoint> curve;  // the first at step 0: untrained
};

struct TextResult {
  int64_t bytes = 0;
  std::vector<uint8_t> alphabet;  // bytes of the token ids
  std::vector<TextRun> runs;      // the chain and the independent heads with equal weights first
  // One piece of the held-out end, by the chain with equal weights.
  std::vector<TokenId> piece;
  std::vector<MtpGuess> before, after;
};

// Learns from the first nine tenths of the text and is tested on the last. `sizes.vocabulary` is
// not looked at. Throws Error(kInput) if the text is too short.
TextResult RunText(TrainingOptions options, const std::string& text, const Progress& progress);

const char* NameOf(MadeUp data);
const char* NameOf(MtpHeads heads);
const char* NameOf(MtpTarget target);

}  // namespace platen::bench
