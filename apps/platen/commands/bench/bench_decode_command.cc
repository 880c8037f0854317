// platen bench decode: what speculation gains, by sequences at once and drafts per round.

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "apps/platen/commands/ocr/decoding_settings.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "bench/decode_bench.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "pipeline/hardware.h"
#include "stages/layout/crops.h"
#include "stages/layout/layout.h"
#include "stages/layout/read_options.h"
#include "stages/readers/document_reader.h"

namespace platen {
namespace {

using bench::DecodeRow;

constexpr const char* kAdaptive = "adaptive";

OptionSpec ListOption(const char* name, const char* value, const char* help,
                      const std::vector<std::string>& choices) {
  return {.name = name,
          .type = OptionType::kChoiceList,
          .default_value = value,
          .value_name = "LIST",
          .group = "Options",
          .help = help,
          .choices = choices};
}

const OptionTable& DecodeOptions() {
  static const OptionTable table = WithBenchOptions(
      WithModelOptions(
          {ListOption("sequences", "1,2,4,8,16,32", "Sequences decoded at once.",
                      {"1", "2", "4", "8", "16", "32", "64"}),
           ListOption("drafts", "0,1,2,3,4,adaptive",
                      "Drafts per round; adaptive: as many as pay, at most 4.",
                      {"0", "1", "2", "3", "4", "5", "6", "7", "8", kAdaptive}),
           ListOption("right", "0.8",
                      "Chances that a draft is right, of an oracle that replaces the drafts of the "
                      "draft layer after its passes.",
                      {"0.0", "0.2", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0"}),
           {.name = "page",
            .type = OptionType::kText,
            .value_name = "FILE",
            .group = "Options",
            .help = "A scan whose lines are read with the model's own drafts; no oracle then."},
           OptionFrom(OcrOptions(), "drafters", "Options"),
           OptionFrom(OcrOptions(), "draft-vocabulary", "Options"),
           {.name = "warm-up",
            .type = OptionType::kChoice,
            .default_value = "auto",
            .value_name = "WHEN",
            .group = "Options",
            .help = "When the draft layer reads a prompt: at once (always), with the first draft "
                    "(later), or at once where drafts pay (auto).",
            .choices = {"auto", "always", "later"}},
           {.name = "tokens",
            .type = OptionType::kInteger,
            .default_value = "24",
            .value_name = "N",
            .group = "Options",
            .help = "Tokens of each sequence in a measurement, with the oracle.",
            .min = 4,
            .max = 1024}}),
      {.repetitions = 5, .most_repetitions = 50, .threads_help = "Threads that work; 0 is one."});
  return table;
}

bench::DecodeBenchOptions OptionsFrom(const Settings& settings) {
  bench::DecodeBenchOptions options;
  options.batches.clear();
  for (const std::string& n : settings.List("sequences")) options.batches.push_back(std::stoll(n));
  options.drafts.clear();
  for (const std::string& k : settings.List("drafts")) {
    options.drafts.push_back(k == kAdaptive ? DecodeRow::kAdaptive : std::stoi(k));
  }
  options.acceptances.clear();
  for (const std::string& a : settings.List("right")) options.acceptances.push_back(std::stod(a));
  const std::string warm_up = settings.Text("warm-up");
  options.warm_up = warm_up == "auto"     ? WarmUp::kAuto
                    : warm_up == "always" ? WarmUp::kAlways
                                          : WarmUp::kLater;
  options.drafters = DraftersFrom(settings);
  options.tokens = static_cast<int>(settings.Integer("tokens"));
  options.repetitions = static_cast<int>(settings.Integer("repetitions"));
  return options;
}

std::vector<Image> CropsOf(const Model& model, const std::string& path) {
  const auto reader = DocumentReader::Open(path, {});
  Image page = reader->ReadPage(0).image;
  const auto detector = MakeClassicalDetector();
  PageLayout layout = DetectUpright(*detector, page);
  const ReadingConfig& reading = model.snapshot().reading;
  ApplyReadOptions(reading, {}, page.width, page.height, layout);
  std::vector<Image> crops;
  for (Crop& crop : MakeCrops(page, layout, reading, {})) crops.push_back(std::move(crop.image));
  if (crops.empty()) throw Error(ErrorKind::kInput, {path, ""}, "has no text to read");
  return crops;
}

std::string DraftsText(int drafts) {
  return drafts == DecodeRow::kAdaptive ? kAdaptive : std::to_string(drafts);
}

nlohmann::ordered_json ToJson(const DecodeRow& row) {
  nlohmann::ordered_json json = {{"sequences", row.sequences}};
  json["drafts"] = DraftsText(row.drafts);
  if (row.acceptance > 0) json["right"] = row.acceptance;
  json["tokens_per_s"] = platen::ToJson(row.tokens_per_s);
  json["speedup"] = platen::ToJson(row.speedup);
  json["tokens_per_round"] = row.tokens_per_round;
  json["accepted"] = row.accepted_share;
  json["first_draft_accepted"] = row.first_draft_share;
  json["rows_per_step"] = row.rows_per_step;
  json["draft_share"] = row.draft_share;
  json["verify_share"] = row.verify_share;
  json["overhead_share"] = row.overhead_share;
  if (row.share_of_prediction > 0) json["share_of_prediction"] = row.share_of_prediction;
  return json;
}

void PrintRows(const std::vector<DecodeRow>& rows, const Model& model, int threads) {
  fmt::print(
      "{}, kernels {}, {}; speed-up: over plain decoding in the same repetition; right: of the\n"
      "drafts that were verified; draft, verify, rest: shares of the time; predicted: speed as a\n"
      "share of what the passes' times and the oracle's chance predict\n",
      PrecisionName(model.precision()), model.kernels().name, Counted(threads, "thread"));
  fmt::print("{:>9} {:>8} {:>6} {:>9} {:>19} {:>8} {:>17} {:>6} {:>6} {:>6} {:>6} {:>6} {:>9}\n",
             "sequences", "drafts", "oracle", "tokens/s", "(min .. max)", "speed-up",
             "(min .. max)", "right", "rows", "draft", "verify", "rest", "predicted");
  for (const DecodeRow& row : rows) {
    fmt::print(
        "{:9} {:>8} {:>6} {:9.1f} {:8.1f} ..{:8.1f} {:8.2f} {:7.2f} ..{:7.2f} {:6.2f} {:6.1f} "
        "{:6.2f} {:6.2f} {:6.3f} {:>9}\n",
        row.sequences, DraftsText(row.drafts),
        row.acceptance > 0 ? fmt::format("{:.1f}", row.acceptance) : "-", row.tokens_per_s.median,
        row.tokens_per_s.min, row.tokens_per_s.max, row.speedup.median, row.speedup.min,
        row.speedup.max, row.accepted_share, row.rows_per_step, row.draft_share, row.verify_share,
        row.overhead_share,
        row.share_of_prediction > 0 ? fmt::format("{:.3f}", row.share_of_prediction) : "-");
  }
}

}  // namespace

const CommandSpec& BenchDecodeCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen bench decode [options]"},
      .description =
          "Times rounds of decoding: tokens per second for so many sequences at once and so "
          "many drafts per round, beside plain decoding in the same run. Drafts are made by the "
          "model's draft layer and then replaced by an oracle that is right as often as --right "
          "says; with --page the drafts are the model's own.\n\n"
          "  tools/random_snapshot.py /tmp/full      a snapshot of GLM-OCR's size, 2.7 GB, no "
          "download\n"
          "  platen bench decode --model /tmp/full\n"
          "  platen bench decode --page assets/samples/synthetic/letter-200.jpg\n",
      .options = DecodeOptions()};
  return spec;
}

int RunBenchDecode(const Words& words) {
  const auto parsed = ParseCommand(BenchDecodeCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  RequireNoArguments(settings, "bench decode");
  const int threads = settings.Integer("threads") == 0 ? 1 : ThreadsFrom(settings);
  LimitThreads(threads);
  bench::DecodeBenchOptions options = OptionsFrom(settings);
  const std::unique_ptr<Model> model = LoadBenchModel(settings);
  std::vector<DecodeRow> rows;
  const std::string page = settings.Text("page");
  options.draft_vocabulary = DraftVocabularyFrom(settings, *model);
  if (page.empty()) {
    rows = bench::RunOracleBench(*model, options);
  } else {
    const std::string task = model->snapshot().reading.Of(RegionKind::kText).prompt;
    rows = bench::RunHeadBench(*model, CropsOf(*model, page), task, options);
  }
  if (!settings.Flag("json")) {
    PrintRows(rows, *model, threads);
    return kExitDone;
  }
  nlohmann::ordered_json json = BenchConditions(settings, model.get());
  json["threads"] = threads;
  json["draft_vocabulary"] = options.draft_vocabulary.empty()
                                 ? model->architecture().text().vocab_size
                                 : static_cast<int>(options.draft_vocabulary.size());
  json["rows"] = nlohmann::ordered_json::array();
  for (const DecodeRow& row : rows) json["rows"].push_back(ToJson(row));
  fmt::print("{}\n", json.dump(1));
  return kExitDone;
}

}  // namespace platen
