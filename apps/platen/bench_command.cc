// platen bench: what this machine does, as shares of its own peaks.

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/platen/commands.h"
#include "apps/platen/exit_codes.h"
#include "apps/platen/hardware.h"
#include "apps/platen/help.h"
#include "apps/platen/model_options.h"
#include "apps/platen/settings.h"
#include "bench/kernel_bench.h"
#include "model/support/error.h"

namespace platen {
namespace {

const OptionTable& BenchOptions() {
  using Type = OptionType;
  static const OptionTable table = {
      {.name = "json", .type = Type::kFlag, .default_value = "false", .group = "Options",
       .help = "Print the rows as JSON."},
      {.name = "repetitions", .type = Type::kInteger, .default_value = "5", .value_name = "N",
       .group = "Options", .help = "Measurements of each row; the median is reported.", .min = 1,
       .max = 1000},
      IsaOption("Options"),
      ThreadsOption("Options"),
      {.name = "help", .type = Type::kFlag, .default_value = "false", .group = "Options",
       .help = "Show this help.", .short_name = 'h'},
  };
  return table;
}

nlohmann::ordered_json ToJson(const bench::KernelRow& row) {
  return {{"kernel", row.kernel},       {"layer", row.layer},       {"rows", row.rows},
          {"n", row.n},                 {"k", row.k},               {"bound", row.bound},
          {"gops", row.gops},           {"gops_min", row.gops_min}, {"gops_max", row.gops_max},
          {"peak_gops", row.peak_gops}, {"share", row.share}};
}

void PrintRows(const std::vector<bench::KernelRow>& rows, const char* kernels, int threads) {
  std::printf("kernels %s, %d thread%s; share of the peak measured beside each row\n", kernels,
              threads, threads == 1 ? "" : "s");
  std::printf("%-14s %-15s %6s %6s %6s %9s %20s %9s %6s  %s\n", "kernel", "layer", "rows", "n", "k",
              "GOPS", "(min .. max)", "peak", "share", "bound");
  for (const bench::KernelRow& row : rows) {
    std::printf("%-14s %-15s %6lld %6lld %6lld %9.1f %9.1f ..%8.1f %9.1f %6.3f  %s\n",
                row.kernel.c_str(), row.layer.c_str(), static_cast<long long>(row.rows),
                static_cast<long long>(row.n), static_cast<long long>(row.k), row.gops,
                row.gops_min, row.gops_max, row.peak_gops, row.share, row.bound.c_str());
  }
}

void BenchKernels(const Settings& settings) {
  const KernelTable& kernels = KernelsFrom(settings);
  // The peaks are those of one core.
  const int threads = settings.IsDefault("threads") ? 1 : ThreadsFrom(settings);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<size_t>(threads));
  bench::KernelBenchOptions options;
  options.repetitions = static_cast<int>(settings.Integer("repetitions"));
  const std::vector<bench::KernelRow> rows = bench::RunKernelBench(kernels, options);
  if (!settings.Flag("json")) {
    PrintRows(rows, kernels.name, threads);
    return;
  }
  nlohmann::ordered_json json = {{"kernels", kernels.name}, {"threads", threads}, {"rows", {}}};
  for (const bench::KernelRow& row : rows) json["rows"].push_back(ToJson(row));
  std::printf("%s\n", json.dump(1).c_str());
}

}  // namespace

int RunBenchCommand(const Words& words) {
  const Settings settings = ParseSettings(BenchOptions(), words);
  if (settings.Flag("help")) {
    std::printf(
        "Usage: platen bench kernels [options]\n\n"
        "Times the inner loops at the shapes of GLM-OCR on one thread and prints each as a share\n"
        "of what this CPU can do at most, measured in the same run. Takes a few minutes. Stop\n"
        "other programs first.\n%s",
        OptionHelp(BenchOptions()).c_str());
    return kExitDone;
  }
  if (settings.positional() != std::vector<std::string>{"kernels"}) {
    throw Error(ErrorKind::kUsage, {"", "bench"}, "says what to measure: platen bench kernels");
  }
  BenchKernels(settings);
  return kExitDone;
}

}  // namespace platen
