// platen bench pages: what a page costs, stage by stage.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "bench/page_bench.h"
#include "model/support/grouped.h"
#include "stages/layout/layout.h"

namespace platen {
namespace {

using bench::PageLimit;
using bench::PageRun;
using bench::PageWorkload;

const OptionTable& PagesOptions() {
  static const OptionTable table = WithBenchOptions(
      WithModelOptions(
          {{.name = "dpi",
            .type = OptionType::kInteger,
            .default_value = "150",
            .value_name = "DPI",
            .group = "Options",
            .help = "Resolution of the pages; the crops grow with it. 150 is the fixed workload.",
            .min = 72,
            .max = 600},
           {.name = "pages",
            .type = OptionType::kInteger,
            .default_value = "4",
            .value_name = "N",
            .group = "Options",
            .help = "Pages of one run; they share batches, so that the stages overlap.",
            .min = 1,
            .max = 1000},
           {.name = "slots",
            .type = OptionType::kInteger,
            .default_value = "8",
            .value_name = "N",
            .group = "Options",
            .help = "Pages in memory at once.",
            .min = 1,
            .max = 1024},
           {.name = "draft-length",
            .type = OptionType::kInteger,
            .default_value = "0",
            .value_name = "N",
            .group = "Options",
            .help = "Drafts per round. The limit is that of plain decoding.",
            .min = 0,
            .max = 8},
           {.name = "trace",
            .value_name = "FILE",
            .group = "Options",
            .help = "Write what the last run did when, for ui.perfetto.dev."}}),
      {.repetitions = 3,
       .most_repetitions = 1000,
       .threads_help = "Threads that work, all told; 0 is one."});
  return table;
}

// What is reported: per page, over the runs.
struct Report {
  bench::Spread page, wall, other;
  std::array<bench::Spread, kNumStages> stages;
  double steps = 0, sequences = 0;  // per page; per step
  bench::Peaks peaks;
  PageLimit limit;

  double share() const { return limit.seconds() / page.median; }
};

template <class Value>
bench::Spread Over(const std::vector<PageRun>& runs, double divisor, const Value& value) {
  std::vector<double> values;
  for (const PageRun& run : runs) values.push_back(value(run) / divisor);
  return bench::SpreadOf(values);
}

Report Summarise(const std::vector<PageRun>& runs, const PageWorkload& workload,
                 const bench::PageShape& shape, const Model& model) {
  const double pages = workload.pages;
  Report report;
  report.page = Over(runs, pages, [](const PageRun& r) { return r.core_s; });
  report.wall = Over(runs, pages, [](const PageRun& r) { return r.wall_s; });
  report.other = Over(runs, pages, [](const PageRun& r) { return r.other_core_s(); });
  for (size_t i = 0; i < report.stages.size(); ++i) {
    report.stages[i] = Over(runs, pages, [i](const PageRun& r) { return r.stage_core_s[i]; });
  }
  report.steps = Over(runs, pages, [](const PageRun& r) { return r.steps; }).median;
  report.sequences = Over(runs, 1, [](const PageRun& r) { return r.sequences; }).median;
  std::vector<bench::Peaks> peaks;
  for (const PageRun& run : runs) peaks.push_back(run.peaks);
  report.peaks = bench::MedianOf(peaks);
  report.limit = LimitOfPage(bench::CountsOf(model.architecture()), shape, report.steps,
                             report.peaks, model.precision(), model.attention());
  return report;
}

const bench::Limit* LimitOfStage(const Report& report, Stage stage) {
  if (stage == Stage::kVisionEncode) return &report.limit.vision;
  if (stage == Stage::kPrefill) return &report.limit.prefill;
  if (stage == Stage::kSpeculativeDecode) return &report.limit.decode;
  return nullptr;
}

// "vision_encode   0.1234     0.1200 ..   0.1300": the beginning of a row.
void PrintCost(std::string_view name, const bench::Spread& cost) {
  fmt::print("{:<20} {:12.4f} {:10.4f} ..{:9.4f}", name, cost.median, cost.min, cost.max);
}

void PrintStages(const Report& report) {
  fmt::print("{:<20} {:>12} {:>21} {:>9} {:>6}  {}\n", "stage", "core-seconds", "(min .. max)",
             "limit", "share", "bound");
  for (int i = 0; i < kNumStages; ++i) {
    const bench::Spread& cost = report.stages[static_cast<size_t>(i)];
    PrintCost(StageName(static_cast<Stage>(i)), cost);
    if (const bench::Limit* limit = LimitOfStage(report, static_cast<Stage>(i))) {
      fmt::print(" {:9.4f} {:6.3f}  {}", limit->seconds(), limit->seconds() / cost.median,
                 limit->bound());
    }
    fmt::print("\n");
  }
  PrintCost("other", report.other);
  fmt::print("\n");
  PrintCost("page", report.page);
  fmt::print(" {:9.4f} {:6.3f}\n", report.limit.seconds(), report.share());
}

void Print(const Report& report, const PageWorkload& workload, const bench::PageShape& shape,
           const Model& model) {
  fmt::print(
      "{}, kernels {}, {}: {} dpi, {} crops, {} image tokens, {} output tokens a page; {} pages a "
      "run\n",
      PrecisionName(model.precision()), model.kernels().name, Counted(workload.threads, "thread"),
      workload.dpi, static_cast<int>(PageWorkload::kCrops), shape.image_tokens, shape.output_tokens,
      workload.pages);
  PrintStages(report);
  fmt::print("{:.1f} pages per core-hour ({:.1f} .. {:.1f}); {:.2f} s of wall time a page\n",
             3600 / report.page.median, 3600 / report.page.max, 3600 / report.page.min,
             report.wall.median);
  fmt::print("decoding: {:.1f} steps a page, {:.1f} sequences a step\n", report.steps,
             report.sequences);
  fmt::print("peaks of one core: {}\n", PeaksText(report.peaks));
  fmt::print("the limit without memory traffic is {:.4f} core-seconds, share {:.3f}\n",
             report.limit.compute_seconds(), report.limit.compute_seconds() / report.page.median);
}

// The same pages with the limits, the cache and the drafts that `platen ocr` takes by itself.
void PrintAsOcr(const Report& report) {
  fmt::print(
      "with the defaults of platen ocr (limits by size, adaptive drafts): {:.1f} pages per "
      "core-hour ({:.1f} .. {:.1f}); {:.1f} steps a page, {:.1f} sequences a step\n",
      3600 / report.page.median, 3600 / report.page.max, 3600 / report.page.min, report.steps,
      report.sequences);
}

nlohmann::ordered_json RunsJson(const std::vector<PageRun>& runs) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const PageRun& run : runs) {
    json.push_back({{"core_s", run.core_s},
                    {"wall_s", run.wall_s},
                    {"steps", run.steps},
                    {"peaks", ToJson(run.peaks)}});
  }
  return json;
}

nlohmann::ordered_json ReportJson(const Report& report) {
  nlohmann::ordered_json stages;
  for (int i = 0; i < kNumStages; ++i) {
    const auto stage = static_cast<Stage>(i);
    nlohmann::ordered_json row = ToJson(report.stages[static_cast<size_t>(i)]);
    if (const bench::Limit* limit = LimitOfStage(report, stage)) {
      row["limit"] = limit->seconds();
      row["bound"] = limit->bound();
    }
    stages[StageName(stage)] = row;
  }
  stages["other"] = ToJson(report.other);
  return {{"core_seconds_a_page", ToJson(report.page)},
          {"stages", stages},
          {"pages_per_core_hour", 3600 / report.page.median},
          {"wall_seconds_a_page", ToJson(report.wall)},
          {"limit_core_seconds", report.limit.seconds()},
          {"limit_without_memory_core_seconds", report.limit.compute_seconds()},
          {"share", report.share()},
          {"steps_a_page", report.steps},
          {"sequences_a_step", report.sequences},
          {"peaks", ToJson(report.peaks)}};
}

}  // namespace

const CommandSpec& BenchPagesCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen bench pages [options]"},
      .description =
          "What a page costs through the whole pipeline, in core-seconds: A4 pages in 20 equal "
          "crops with 35 tokens read from each, stop tokens ignored; at 150 dpi 2,200 image "
          "tokens. The pages are JPEG files made for the purpose; the layout runs, but its "
          "result is replaced by the crops. Beside vision, prefill and decoding stands the "
          "least this machine could take, from peaks measured before and after each run. "
          "Loading the model and one page are not counted. Each run is made twice: with exactly "
          "the limit that is read and no drafts, and with the limits, the cache and the drafts "
          "that platen ocr takes by itself. With one thread the stages add up; with more, work "
          "that other threads take over from a stage counts as other.\n\n"
          "  tools/random_snapshot.py /tmp/full      a snapshot of GLM-OCR's size, 2.7 GB, no "
          "download\n"
          "  platen bench pages --model /tmp/full\n\n"
          "Real pages with the bundled model, beside Tesseract: tools/eval/cer.py --tesseract\n",
      .options = PagesOptions()};
  return spec;
}

int RunBenchPages(const Words& words) {
  const auto parsed = ParseCommand(BenchPagesCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  RequireNoArguments(settings, "bench pages");
  PageWorkload workload;
  workload.dpi = static_cast<int>(settings.Integer("dpi"));
  workload.pages = static_cast<int>(settings.Integer("pages"));
  workload.slots = static_cast<int>(settings.Integer("slots"));
  workload.draft_length = static_cast<int>(settings.Integer("draft-length"));
  workload.threads = std::max(1, static_cast<int>(settings.Integer("threads")));
  workload.trace_path = settings.Text("trace");
  KeepOpenCvSingleThreaded();
  LimitThreads(workload.threads);
  const std::unique_ptr<Model> model = LoadBenchModel(settings);
  const bench::PageShape shape = ShapeOf(*model, workload);
  const std::vector<PageRun> runs =
      bench::RunPageBench(*model, workload, static_cast<int>(settings.Integer("repetitions")));
  const Report report = Summarise(runs, workload, shape, *model);
  PageWorkload as_ocr = workload;
  as_ocr.as_ocr = true;
  as_ocr.trace_path.clear();
  const std::vector<PageRun> ocr_runs =
      bench::RunPageBench(*model, as_ocr, static_cast<int>(settings.Integer("repetitions")));
  const Report ocr_report = Summarise(ocr_runs, as_ocr, shape, *model);
  if (!settings.Flag("json")) {
    Print(report, workload, shape, *model);
    PrintAsOcr(ocr_report);
    return kExitDone;
  }
  nlohmann::ordered_json json = BenchConditions(settings, model.get());
  json["threads"] = workload.threads;
  json["dpi"] = workload.dpi;
  json["crops_a_page"] = PageWorkload::kCrops;
  json["image_tokens_a_page"] = shape.image_tokens;
  json["output_tokens_a_page"] = shape.output_tokens;
  json["pages_a_run"] = workload.pages;
  json.update(ReportJson(report));
  json["runs"] = RunsJson(runs);
  json["as_ocr"] = ReportJson(ocr_report);
  json["as_ocr"]["runs"] = RunsJson(ocr_runs);
  fmt::print("{}\n", json.dump(1));
  return kExitDone;
}

}  // namespace platen
