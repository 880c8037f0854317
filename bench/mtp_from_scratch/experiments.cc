#include "bench/mtp_from_scratch/experiments.h"

#include <memory>

#include "model/support/error.h"
#include "model/training/objective.h"

namespace platen::bench {
namespace {

constexpr int64_t kPointsOfCurve = 20;
// What is drawn with a seed of its own: the seed of the run plus these, and the repeat.
constexpr uint64_t kStart = 10, kTrain = 20, kTest = 30;

std::unique_ptr<TokenSource> MakeSource(MadeUp data, const TrainingOptions& options,
                                        uint64_t seed) {
  const MtpSizes& sizes = options.sizes;
  if (data == MadeUp::kRandom) {
    return std::make_unique<RandomTokens>(sizes.vocabulary, sizes.length, seed);
  }
  return std::make_unique<TableTokens>(RandomTable(sizes.vocabulary, options.seed),
                                       sizes.vocabulary, sizes.length, seed);
}

TokenBatch FirstOf(const TokenBatch& batch) {
  return {1, batch.length, {batch.ids.begin(), batch.ids.begin() + batch.length}};
}

MtpScore RunOnce(const TrainingOptions& options, TableRow& row, uint64_t repeat,
                 TableResult* shown) {
  MtpTrainer<float> trainer({options.sizes, row.heads, row.target},
                            DepthWeights::Equal(options.sizes.depths),
                            options.seed + kStart + repeat);
  const TokenBatch test =
      MakeSource(row.data, options, options.seed + kTest + repeat)->Next(options.test_sequences);
  if (shown != nullptr) {
    shown->sequence = FirstOf(test).ids;
    shown->before = trainer.Guesses(FirstOf(test));
  }
  const auto source = MakeSource(row.data, options, options.seed + kTrain + repeat);
  for (int64_t step = 1; step <= options.steps; ++step) {
    trainer.Step(source->Next(options.batch), MtpRate(step, options.steps, options.rate));
  }
  if (shown != nullptr) shown->after = trainer.Guesses(FirstOf(test));
  return trainer.Score(test);
}

TextRun RunOfText(const TrainingOptions& options, TextRun run, TextTokens source,
                  const TokenBatch& test, TextResult* shown) {
  MtpTrainer<float> trainer({options.sizes, run.heads, MtpTarget::kNext}, run.weights,
                            options.seed + kStart);
  const TokenBatch piece = FirstOf(test);
  if (shown != nullptr) {
    shown->piece = piece.ids;
    shown->before = trainer.Guesses(piece);
  }
  run.curve.push_back({0, 0, trainer.Score(test), trainer.depth_weights()});
  const int64_t every = std::max<int64_t>(1, options.steps / kPointsOfCurve);
  double sum = 0;
  for (int64_t step = 1; step <= options.steps; ++step) {
    sum += trainer.Step(source.Next(options.batch), MtpRate(step, options.steps, options.rate));
    if (step % every != 0 && step != options.steps) continue;
    const auto since = static_cast<double>(step - run.curve.back().step);
    run.curve.push_back({step, sum / since, trainer.Score(test), trainer.depth_weights()});
    sum = 0;
  }
  if (shown != nullptr) shown->after = trainer.Guesses(piece);
  return run;
}

std::vector<TextRun> PlannedRuns(int depths) {
  const DepthWeights equal = DepthWeights::Equal(depths);
  const DepthWeights decaying = {.prior = DecayingStepWeights(depths)};
  return {
      {"chain, equal weights", MtpHeads::kCausal, equal, {}},
      {"independent heads, equal weights", MtpHeads::kIndependent, equal, {}},
      {"chain, weights 0.6^k", MtpHeads::kCausal, decaying, {}},
      {"chain, learned, temperature 1",
       MtpHeads::kCausal,
       DepthWeights::Learned(equal.prior, 1),
       {}},
      {"chain, learned, temperature 0",
       MtpHeads::kCausal,
       DepthWeights::Learned(equal.prior, 0),
       {}},
  };
}

}  // namespace

const char* NameOf(MadeUp data) { return data == MadeUp::kRandom ? "random" : "table"; }
const char* NameOf(MtpHeads heads) { return heads == MtpHeads::kCausal ? "chain" : "independent"; }
const char* NameOf(MtpTarget target) {
  return target == MtpTarget::kNext ? "t(i+k+2)" : "t(i+k+1)";
}

TableResult RunTable(const TrainingOptions& options, const std::vector<MadeUp>& data, int repeats,
                     const Progress& progress) {
  TableResult result;
  for (const MadeUp kind : data) {
    for (const MtpTarget target : {MtpTarget::kFed, MtpTarget::kNext}) {
      for (const MtpHeads heads : {MtpHeads::kCausal, MtpHeads::kIndependent}) {
        TableRow row = {kind, heads, target, {}};
        progress(std::string(NameOf(kind)) + " tokens, label " + NameOf(target) + ", " +
                 NameOf(heads));
        const bool shown =
            kind == MadeUp::kTable && target == MtpTarget::kNext && heads == MtpHeads::kCausal;
        for (int r = 0; r < repeats; ++r) {
          row.repeats.push_back(
              RunOnce(options, row, static_cast<uint64_t>(r), shown && r == 0 ? &result : nullptr));
        }
        result.rows.push_back(std::move(row));
      }
    }
  }
  return result;
}

TextResult RunText(TrainingOptions options, const std::string& text, const Progress& progress) {
  const ByteText bytes(text);
  const size_t held_out = bytes.ids.size() * 9 / 10;
  if (bytes.ids.size() - held_out < static_cast<size_t>(options.sizes.length)) {
    throw Error(ErrorKind::kInput, {.file = "", .field = "text"},
                "is too short: a tenth of it must be as long as a sequence");
  }
  options.sizes.vocabulary = bytes.vocabulary();
  const int64_t length = options.sizes.length;
  const TokenBatch test =
      TextTokens(bytes, held_out, bytes.ids.size(), length, options.seed + kTest)
          .Next(options.test_sequences);
  TextResult result;
  result.bytes = static_cast<int64_t>(text.size());
  result.alphabet = bytes.bytes;
  for (TextRun& planned : PlannedRuns(options.sizes.depths)) {
    progress("text, " + planned.name);
    TextResult* shown = result.runs.empty() ? &result : nullptr;
    result.runs.push_back(RunOfText(options, std::move(planned),
                                    TextTokens(bytes, 0, held_out, length, options.seed + kTrain),
                                    test, shown));
  }
  return result;
}

}  // namespace platen::bench
