// platen bench: what this machine does, as shares of its own peaks.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/platen/commands.h"
#include "apps/platen/exit_codes.h"
#include "apps/platen/help.h"
#include "apps/platen/locate.h"
#include "apps/platen/model_options.h"
#include "apps/platen/packed_options.h"
#include "apps/platen/settings.h"
#include "apps/platen/thread_limit.h"
#include "bench/kernel_bench.h"
#include "bench/page_bench.h"
#include "model/support/error.h"

namespace platen {
namespace {

const OptionTable& BenchOptions() {
  using Type = OptionType;
  static const OptionTable table = {
      {.name = "json",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Print the rows as JSON."},
      {.name = "repetitions",
       .type = Type::kInteger,
       .default_value = "5",
       .value_name = "N",
       .group = "Options",
       .help = "Measurements of each row; the median is reported.",
       .min = 1,
       .max = 1000},
      {.name = "model",
       .value_name = "DIR",
       .group = "Options",
       .help = "For pages: the snapshot. Without it: the bundled model.",
       .environment = "PLATEN_MODEL"},
      {.name = "draft-length",
       .type = Type::kInteger,
       .default_value = "0",
       .value_name = "N",
       .group = "Options",
       .help = "For pages: drafts per round.",
       .min = 0,
       .max = 8},
      PrecisionOption("Options"),
      F32GemmOption("Options"),
      PackedOption("Options"),
      PackedDirOption("Options"),
      AttentionOption("Options"),
      IsaOption("Options"),
      ThreadsOption("Options"),
      {.name = "help",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Show this help.",
       .short_name = 'h'},
  };
  return table;
}

nlohmann::ordered_json ToJson(const bench::KernelRow& row) {
  return {{"kernel", row.kernel},
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
}

void PrintRows(const std::vector<bench::KernelRow>& rows, const char* kernels, int threads) {
  std::printf("kernels %s, %d thread%s; share of the peak measured beside each row, and (now) of\n"
              "the compute peak right after it, at the clock the load leaves\n",
              kernels, threads, threads == 1 ? "" : "s");
  std::printf("%-17s %-15s %6s %6s %6s %9s %20s %9s %6s  %-7s %9s %6s\n", "kernel", "layer", "rows",
              "n", "k", "GOPS", "(min .. max)", "peak", "share", "bound", "peak now", "share");
  for (const bench::KernelRow& row : rows) {
    std::printf("%-17s %-15s %6lld %6lld %6lld %9.1f %9.1f ..%8.1f %9.1f %6.3f  %-7s %9.1f %6.3f\n",
                row.kernel.c_str(), row.layer.c_str(), static_cast<long long>(row.rows),
                static_cast<long long>(row.n), static_cast<long long>(row.k), row.gops,
                row.gops_min, row.gops_max, row.peak_gops, row.share, row.bound.c_str(),
                row.peak_now_gops, row.share_now);
  }
}

void BenchKernels(const Settings& settings) {
  const KernelTable& kernels = KernelsFrom(settings);
  // The peaks are those of one core.
  const int threads = settings.IsDefault("threads") ? 1 : ThreadsFrom(settings);
  LimitThreads(threads);
  bench::KernelBenchOptions options;
  options.repetitions = static_cast<int>(settings.Integer("repetitions"));
  if (!settings.IsDefault("precision")) options.precisions = {PrecisionFrom(settings)};
  const std::vector<bench::KernelRow> rows = bench::RunKernelBench(kernels, options);
  if (!settings.Flag("json")) {
    PrintRows(rows, kernels.name, threads);
    return;
  }
  nlohmann::ordered_json json = {{"kernels", kernels.name}, {"threads", threads}, {"rows", {}}};
  for (const bench::KernelRow& row : rows) json["rows"].push_back(ToJson(row));
  std::printf("%s\n", json.dump(1).c_str());
}

void PrintPages(const std::vector<bench::PageCost>& costs, const bench::PageOperations& ops,
                const bench::Peaks& peaks, const Model& model, int threads) {
  std::printf(
      "%s, attention %s, kernels %s, %d thread%s: 20 crops, %d image tokens, 700 output tokens a "
      "page\n",
      PrecisionName(model.precision()), VisionAttentionName(model.vision_attention()),
      model.kernels().name, threads, threads == 1 ? "" : "s", ops.image_tokens);
  std::printf("%8s %8s %8s %8s  core-seconds\n", "vision", "prefill", "decode", "page");
  std::vector<double> pages;
  for (const bench::PageCost& cost : costs) {
    std::printf("%8.2f %8.2f %8.2f %8.2f\n", cost.vision_core, cost.prefill_core, cost.decode_core,
                cost.core());
    pages.push_back(cost.core());
  }
  std::sort(pages.begin(), pages.end());
  const double median = pages[pages.size() / 2];
  const double limit = bench::LimitSeconds(ops, peaks, model.precision());
  std::printf("median %.2f core-seconds = %.1f pages per core-hour (min %.2f, max %.2f)\n", median,
              3600 / median, pages.front(), pages.back());
  std::printf(
      "limit at the peaks measured just now (%s %.0f GOPS, %s %.0f GFLOPS): %.2f, share %.2f\n",
      peaks.int8_instruction.c_str(), peaks.int8_gops, peaks.f32_instruction.c_str(),
      peaks.f32_gflops, limit, limit / median);
}

nlohmann::ordered_json ToJson(const bench::PageCost& cost) {
  return {{"vision_core_s", cost.vision_core},   {"vision_wall_s", cost.vision_wall},
          {"prefill_core_s", cost.prefill_core}, {"prefill_wall_s", cost.prefill_wall},
          {"decode_core_s", cost.decode_core},   {"decode_wall_s", cost.decode_wall}};
}

void BenchPages(const Settings& settings) {
  const int threads = settings.IsDefault("threads") ? 1 : ThreadsFrom(settings);
  LimitThreads(threads);
  const std::string dir = LocateModel(settings.Text("model"));
  const Precision precision = PrecisionFrom(settings);
  const Model model(std::make_unique<Snapshot>(LoadSnapshot(dir)), KernelsFrom(settings), precision,
                    PackingFrom(settings, dir, precision), AttentionFrom(settings));
  bench::PageWorkload workload;
  workload.draft_length = static_cast<int>(settings.Integer("draft-length"));
  const auto costs =
      bench::RunPageBench(model, workload, static_cast<int>(settings.Integer("repetitions")));
  const bench::PageOperations ops = bench::CountOperations(model.config(), workload);
  const bench::Peaks peaks = bench::MeasurePeaks(model.kernels().name, /*memory=*/false);
  if (!settings.Flag("json")) {
    PrintPages(costs, ops, peaks, model, threads);
    return;
  }
  nlohmann::ordered_json json = {
      {"kernels", model.kernels().name},
      {"precision", PrecisionName(model.precision())},
      {"attention", VisionAttentionName(model.vision_attention())},
      {"threads", threads},
      {"image_tokens", ops.image_tokens},
      {"limit_core_s", bench::LimitSeconds(ops, peaks, model.precision())},
      {"pages", nlohmann::ordered_json::array()}};
  for (const bench::PageCost& cost : costs) json["pages"].push_back(ToJson(cost));
  std::printf("%s\n", json.dump(1).c_str());
}

}  // namespace

int RunBenchCommand(const Words& words) {
  const Settings settings = ParseSettings(BenchOptions(), words);
  if (settings.Flag("help")) {
    std::printf(
        "Usage: platen bench kernels [options]\n"
        "       platen bench pages [options]\n\n"
        "kernels: times the inner loops at the shapes of GLM-OCR and prints each as a share of "
        "what\n"
        "this CPU can do at most, measured in the same run; with --precision only the products "
        "of\n"
        "that precision, and attention.\n"
        "pages: what a page costs in vision, prefill and decoding: 20 crops with 2,200 image "
        "tokens\n"
        "and 700 output tokens, the same for every model.\n"
        "One thread unless --threads says otherwise. Stop other programs first.\n%s",
        OptionHelp(BenchOptions()).c_str());
    return kExitDone;
  }
  const std::vector<std::string>& what = settings.positional();
  if (what == std::vector<std::string>{"kernels"}) {
    BenchKernels(settings);
  } else if (what == std::vector<std::string>{"pages"}) {
    BenchPages(settings);
  } else {
    throw Error(ErrorKind::kUsage, {"", "bench"},
                "say what to measure: platen bench kernels, or platen bench pages");
  }
  return kExitDone;
}

}  // namespace platen
