// platen bench model: the model's passes beside what the machine could do at most.

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "bench/model_bench.h"
#include "model/support/grouped.h"
#include "pipeline/hardware.h"

namespace platen {
namespace {

const OptionTable& ModelOptions() {
  static const OptionTable table = WithBenchOptions(
      WithModelOptions({{.name = "phases",
                         .type = OptionType::kChoiceList,
                         .default_value = "vision,prefill,decode",
                         .value_name = "LIST",
                         .group = "Options",
                         .help = "What to time, separated by commas.",
                         .choices = {"vision", "prefill", "decode"}}}),
      {.repetitions = 5,
       .most_repetitions = 50,  // decoding goes on from repetition to repetition
       .threads_help =
           "Threads that work. 0: one, and where there are more CPUs also two, in turns."});
  return table;
}

std::vector<int> ThreadCounts(const Settings& settings) {
  if (settings.Integer("threads") > 0) return {static_cast<int>(settings.Integer("threads"))};
  return AvailableCpus() > 1 ? std::vector<int>{1, 2} : std::vector<int>{1};
}

bench::ModelBenchOptions OptionsFrom(const Settings& settings) {
  using bench::ModelPhase;
  bench::ModelBenchOptions options;
  options.repetitions = static_cast<int>(settings.Integer("repetitions"));
  options.threads = ThreadCounts(settings);
  options.phases.clear();
  const std::vector<std::string> wanted = settings.List("phases");
  for (const ModelPhase phase : {ModelPhase::kVision, ModelPhase::kPrefill, ModelPhase::kDecode}) {
    if (std::find(wanted.begin(), wanted.end(), PhaseName(phase)) != wanted.end()) {
      options.phases.push_back(phase);
    }
  }
  return options;
}

const char* UnitOf(bench::ModelPhase phase) {
  static constexpr const char* kUnits[] = {"patches", "tokens", "sequences"};
  return kUnits[static_cast<size_t>(phase)];
}

nlohmann::ordered_json RowJson(const bench::ModelRow& row) {
  nlohmann::ordered_json json = {
      {"phase", PhaseName(row.phase)}, {"size", row.size}, {"unit", UnitOf(row.phase)}};
  if (row.context > 0) json["context"] = row.context;
  if (row.weights_read > 0) json["weights_read"] = static_cast<int64_t>(row.weights_read);
  json["threads"] = row.threads;
  json["seconds"] = ToJson(row.seconds);
  json["per_second"] = row.per_second;
  json["limit_seconds"] = row.limit_seconds;
  json["bound"] = row.bound;
  json["share"] = row.share;
  json["peaks"] = ToJson(row.peaks);
  if (row.busy_neighbour.has_value()) json["busy_neighbour"] = *row.busy_neighbour;
  return json;
}

void PrintRows(const std::vector<bench::ModelRow>& rows, const Model& model) {
  fmt::print(
      "{}, kernels {}; seconds of one pass, limit at the peaks measured beside it; busy:\n"
      "repetitions after which something else kept the same physical core busy\n",
      PrecisionName(model.precision()), model.kernels().name);
  fmt::print("{:<8} {:>5} {:<9} {:>7} {:>9} {:>21} {:>10} {:>9} {:>6}  {:<7} {:>5}\n", "phase",
             "size", "", "threads", "seconds", "(min .. max)", "per second", "limit", "share",
             "bound", "busy");
  for (const bench::ModelRow& row : rows) {
    fmt::print(
        "{:<8} {:5} {:<9} {:7} {:9.4f} {:10.4f} ..{:9.4f} {:10.1f} {:9.4f} {:6.3f}  {:<7} {:>5}\n",
        PhaseName(row.phase), row.size, UnitOf(row.phase), row.threads, row.seconds.median,
        row.seconds.min, row.seconds.max, row.per_second, row.limit_seconds, row.share, row.bound,
        row.busy_neighbour ? std::to_string(*row.busy_neighbour) : "-");
  }
  for (const int threads : {1, 2}) {
    const auto last = std::find_if(rows.rbegin(), rows.rend(),
                                   [threads](const auto& row) { return row.threads == threads; });
    if (last == rows.rend()) continue;
    fmt::print("peaks of {}, last row: {}\n", Counted(threads, "thread"), PeaksText(last->peaks));
  }
}

}  // namespace

const CommandSpec& BenchModelCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen bench model [options]"},
      .description =
          "Times the model's passes: the encoder on one image of 256, 1024 and 4800 patches, "
          "the prefill of 64 and 512 tokens, and a step of plain decoding for 1, 4, 8, 16 and "
          "32 sequences. Beside each stands the least time this machine could take for it: all "
          "products at the peak of their precision, attention at that of its values' type, "
          "every weight that is used read once from memory; the peaks are measured before and "
          "after every "
          "repetition. Sizes a model cannot read are left out.\n\n"
          "  tools/random_snapshot.py /tmp/full      a snapshot of GLM-OCR's size, 2.7 GB, no "
          "download\n"
          "  platen bench model --model /tmp/full\n",
      .options = ModelOptions()};
  return spec;
}

int RunBenchModel(const Words& words) {
  const auto parsed = ParseCommand(BenchModelCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  RequireNoArguments(settings, "bench model");
  const bench::ModelBenchOptions options = OptionsFrom(settings);
  LimitThreads(*std::max_element(options.threads.begin(), options.threads.end()));
  const std::unique_ptr<Model> model = LoadBenchModel(settings);
  const std::vector<bench::ModelRow> rows = bench::RunModelBench(*model, options);
  if (!settings.Flag("json")) {
    PrintRows(rows, *model);
    return kExitDone;
  }
  nlohmann::ordered_json json = BenchConditions(settings, model.get());
  json["rows"] = nlohmann::ordered_json::array();
  for (const bench::ModelRow& row : rows) json["rows"].push_back(RowJson(row));
  fmt::print("{}\n", json.dump(1));
  return kExitDone;
}

}  // namespace platen
