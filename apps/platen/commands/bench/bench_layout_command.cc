// platen bench layout: pages through a layout model.

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "bench/layout_model_bench.h"
#include "model/families/layout_snapshot.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

const OptionTable& LayoutOptions() {
  static const OptionTable table =
      WithBenchOptions({{.name = "layout-model",
                         .value_name = "DIR",
                         .group = "Options",
                         .help = "Snapshot folder of the layout model."}},
                       {.repetitions = 5, .threads_help = "Threads that work. 0: one."});
  return table;
}

void AddRun(const bench::LayoutModelRun& run, nlohmann::ordered_json& json) {
  json["gflop"] = run.gflop;
  json["seconds"] = run.seconds;
  json["core_seconds"] = run.core_seconds;
  json["share"] = run.share;
  json["peaks"] = ToJson(run.peaks);
}

void Print(const bench::LayoutModelRun& run) {
  const bench::Spread wall = bench::SpreadOf(run.seconds), cpu = bench::SpreadOf(run.core_seconds);
  fmt::print("seconds         {:.3f} ({:.3f} .. {:.3f})\n", wall.median, wall.min, wall.max);
  fmt::print("core-seconds    {:.3f} ({:.3f} .. {:.3f})\n", cpu.median, cpu.min, cpu.max);
  fmt::print("share           {:.3f} of {} {:.0f} GFLOPS\n", run.share, run.peaks.f32_instruction,
             run.peaks.f32_gflops);
}

}  // namespace

const CommandSpec& BenchLayoutCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen bench layout --layout-model DIR [options]"},
      .description =
          "Times a layout model (PP-DocLayoutV3) on pages of random pixels, A4 at 150 dpi: "
          "seconds and core-seconds of a page, and its products as a share of the f32 peak of "
          "one core.\n\n"
          "  tools/random_layout_snapshot.py /tmp/layout     a snapshot of its size, 127 MB, no "
          "download\n"
          "  platen bench layout --layout-model /tmp/layout\n",
      .options = LayoutOptions()};
  return spec;
}

int RunBenchLayout(const Words& words) {
  const auto parsed = ParseCommand(BenchLayoutCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  RequireNoArguments(settings, "bench layout");
  if (settings.Text("layout-model").empty()) {
    throw Error(ErrorKind::kUsage, {"", "--layout-model"}, "say which model to time");
  }
  const int threads = std::max(1, static_cast<int>(settings.Integer("threads")));
  LimitThreads(threads);
  const KernelTable& kernels = KernelsFrom(settings);
  const LayoutSnapshot snapshot = LoadLayoutSnapshot(LocateModel(settings.Text("layout-model")));
  const auto model = snapshot.architecture->Load(snapshot.checkpoint, kernels);
  const bench::LayoutModelRun run = bench::RunLayoutModelBench(
      *model, kernels, static_cast<int>(settings.Integer("repetitions")));
  if (settings.Flag("json")) {
    nlohmann::ordered_json json = BenchConditions(settings, nullptr);
    json["layout_model"] = snapshot.dir;
    json["threads"] = threads;
    AddRun(run, json);
    fmt::print("{}\n", json.dump(1));
  } else {
    fmt::print("{}, kernels {}: {:.1f} GFLOP a page\n", Counted(threads, "thread"), kernels.name,
               run.gflop);
    Print(run);
  }
  return kExitDone;
}

}  // namespace platen
