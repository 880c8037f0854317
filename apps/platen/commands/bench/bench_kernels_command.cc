// platen bench kernels: the inner loops as shares of this machine's own peaks.

#include <fmt/format.h>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "bench/kernel_bench.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

// Some of `choices`, all by default.
OptionSpec ListOption(const char* name, const char* help, const std::vector<std::string>& choices) {
  OptionSpec option = {.name = name,
                       .type = OptionType::kChoiceList,
                       .value_name = "LIST",
                       .group = "Options",
                       .help = help,
                       .choices = choices};
  option.default_value = fmt::format("{}", fmt::join(choices, ","));
  return option;
}

OptionSpec LayersOption() {
  return ListOption("layers", "What to time, separated by commas.", bench::KernelBenchLayers());
}

OptionSpec RowsOption() {
  std::vector<std::string> choices;
  for (const int64_t rows : bench::KernelBenchOptions().rows) {
    choices.push_back(std::to_string(rows));
  }
  return ListOption("rows",
                    "Rows of the products, separated by commas: 1 and 4 only with lm_head, more "
                    "than 64 only with the other layers.",
                    choices);
}

const OptionTable& KernelOptions() {
  static const OptionTable table = WithBenchOptions(
      {PrecisionOption("Options"), LayersOption(), RowsOption()},
      {.repetitions = 5,
       .most_repetitions = 1000,
       .threads_help = "Threads that work; 0 is one. The peaks are those of one core."});
  return table;
}

nlohmann::ordered_json ToJson(const bench::KernelRow& row) {
  nlohmann::ordered_json json = {{"kernel", row.kernel},
                                 {"layer", row.layer},
                                 {"rows", row.rows},
                                 {"n", row.n},
                                 {"k", row.k},
                                 {"bound", row.bound},
                                 {"gops", row.gops},
                                 {"gops_min", row.gops_min},
                                 {"gops_max", row.gops_max},
                                 {"peak_gops", row.peak_gops},
                                 {"share", row.share},
                                 {"peak_now_gops", row.peak_now_gops},
                                 {"share_now", row.share_now}};
  if (row.undisturbed.has_value()) {
    json["undisturbed"] = {{"repetitions", row.undisturbed->repetitions},
                           {"gops", row.undisturbed->gops},
                           {"share", row.undisturbed->share}};
  }
  return json;
}

// "450.1 0.812 7": of the undisturbed repetitions.
std::string UndisturbedText(const bench::KernelRow& row) {
  if (!row.undisturbed.has_value()) return "-";
  if (row.undisturbed->repetitions == 0) return "none";
  return fmt::format("{:8.1f} {:6.3f} {:4}", row.undisturbed->gops, row.undisturbed->share,
                     row.undisturbed->repetitions);
}

void PrintRows(const std::vector<bench::KernelRow>& rows, const char* kernels, int threads) {
  fmt::print(
      "kernels {}, {}; share: of the peak measured beside each row; (now): of the compute\n"
      "peak right after it, at the clock the load leaves; undisturbed: the repetitions during "
      "which\n"
      "nothing else kept the same physical core busy (known only with AMX)\n",
      kernels, Counted(threads, "thread"));
  fmt::print("{:<18} {:<12} {:>5} {:>6} {:>5} {:>8} {:>19} {:>8} {:>6}  {:<7} {:>6}  {}\n",
             "kernel", "layer", "rows", "n", "k", "GOPS", "(min .. max)", "peak", "share", "bound",
             "(now)", "undisturbed: GOPS, share, number");
  for (const bench::KernelRow& row : rows) {
    fmt::print(
        "{:<18} {:<12} {:5} {:6} {:5} {:8.1f} {:8.1f} ..{:8.1f} {:8.1f} {:6.3f}  {:<7} {:6.3f}  "
        "{}\n",
        row.kernel, row.layer, row.rows, row.n, row.k, row.gops, row.gops_min, row.gops_max,
        row.peak_gops, row.share, row.bound, row.share_now, UndisturbedText(row));
  }
}

}  // namespace

const CommandSpec& BenchKernelsCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen bench kernels [options]"},
      .description =
          "Times the inner loops at the shapes of GLM-OCR, whatever model is installed, and "
          "prints each as a share of what this CPU can do at most, measured before and after "
          "every repetition; with --precision only the products of that precision, and "
          "attention (vision head: one head over n patches; decode step: a token of each of so "
          "many sequences over n earlier ones, all layers).\n",
      .options = KernelOptions()};
  return spec;
}

int RunBenchKernels(const Words& words) {
  const auto parsed = ParseCommand(BenchKernelsCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  RequireNoArguments(settings, "bench kernels");
  const KernelTable kernels = WithFastestSchedule(KernelsFrom(settings));
  const int threads = settings.Integer("threads") == 0 ? 1 : ThreadsFrom(settings);
  LimitThreads(threads);
  bench::KernelBenchOptions options;
  options.repetitions = static_cast<int>(settings.Integer("repetitions"));
  if (!settings.IsDefault("precision")) options.precisions = {PrecisionFrom(settings)};
  options.layers = settings.List("layers");
  options.rows.clear();
  for (const std::string& rows : settings.List("rows")) options.rows.push_back(std::stoll(rows));
  const std::vector<bench::KernelRow> rows = bench::RunKernelBench(kernels, options);
  if (rows.empty()) {
    throw Error(ErrorKind::kUsage, {"", "--rows"},
                "nothing to time: 1 and 4 rows are for lm_head, more than 64 for the other layers");
  }
  if (!settings.Flag("json")) {
    PrintRows(rows, kernels.name, threads);
    return kExitDone;
  }
  nlohmann::ordered_json json = BenchConditions(settings, nullptr);
  json["threads"] = threads;
  json["rows"] = nlohmann::ordered_json::array();
  for (const bench::KernelRow& row : rows) json["rows"].push_back(ToJson(row));
  fmt::print("{}\n", json.dump(1));
  return kExitDone;
}

}  // namespace platen
