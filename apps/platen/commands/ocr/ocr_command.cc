// platen ocr: the main job.

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/file_watch.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/metrics_file.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/progress_line.h"
#include "apps/platen/cli/prometheus_file.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/cli/utc_time.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/dry_run.h"
#include "apps/platen/commands/ocr/job.h"
#include "apps/platen/commands/ocr/limit_options.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/ocr_report.h"
#include "apps/platen/commands/ocr/reading_model.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/resources.h"
#include "apps/platen/commands/ocr/run_json.h"
#include "apps/platen/commands/ocr/run_outcome.h"
#include "apps/platen/commands/ocr/stop_request.h"
#include "model/kernels/kernels.h"
#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/utf8.h"
#include "pipeline/earlier_clashes.h"
#include "pipeline/memory_plan.h"
#include "pipeline/run.h"
#include "pipeline/run_history.h"

namespace platen {
namespace {

// A page that may take no longer is not rendered for longer either.
ReadLimits TimedReadLimits(const Settings& settings) {
  ReadLimits limits = ReadLimitsFrom(settings);
  const double page_s = TimeLimitsFrom(settings).page_s;
  if (page_s > 0) limits.pdf_page_timeout_s = std::min(limits.pdf_page_timeout_s, page_s);
  limits.patience_s = PatienceFrom(settings);
  return limits;
}

RunOptions MakeRunOptions(const Settings& settings, const ReadingModel& model,
                          const Resources& resources) {
  RunOptions options;
  options.source.patience_s = PatienceFrom(settings);
  options.version = PLATEN_VERSION;
  options.model_id = model.loaded.id;
  options.source.pages = PagesFrom(settings);
  options.source.force = settings.Flag("force");
  options.render = RenderOptionsFrom(settings);
  options.images = settings.Text("images");
  options.pipeline.reading = model.loaded.model->snapshot().reading;
  options.source.read = model.read;
  options.source.limits = TimeLimitsFrom(settings);
  options.source.max_pages = settings.Integer("max-pages");
  options.source.read.pictures = !options.images.empty();
  options.pipeline.threads = resources.threads;
  options.pipeline.slots = resources.slots;
  options.pipeline.pixels = resources.pixels;
  const BatchPlan batches =
      PlanBatches(model.loaded.model->architecture().text().hidden_size, resources.threads);
  const auto or_planned = [&](const char* name, int planned) {
    const auto asked = static_cast<int>(settings.Integer(name));
    return asked > 0 ? asked : planned;
  };
  options.pipeline.patch_budget = or_planned("batch-patches", batches.patches);
  options.pipeline.row_budget = or_planned("batch-rows", batches.rows);
  options.trace_path = settings.Text("trace");
  return options;
}

void AddMetrics(const InputDocument& input, const PageSlot& page, MetricsFile& metrics) {
  const PageDecoding& d = page.decoding;
  const nlohmann::ordered_json json = {{"document", ToValidUtf8(input.shown_name())},
                                       {"page", page.job.page},
                                       {"crops", d.crops},
                                       {"prompt_tokens", d.prompt_tokens},
                                       {"tokens", d.tokens},
                                       {"rounds", d.stats.rounds},
                                       {"drafted", d.stats.drafted},
                                       {"accepted", d.stats.accepted},
                                       {"preemptions", d.stats.preemptions}};
  metrics.Append(json.dump());
}

SinkObservers ObserversOf(OcrReport& report, OcrTarget& target, RunHistory& history,
                          std::optional<MetricsFile>& metrics) {
  SinkObservers observers;
  observers.failure = [&report](const Failure& failure) { report.OnFailure(failure); };
  observers.page = [&report](const InputDocument& input, const PageResult& page, int of_pages) {
    report.OnPage(input, page, of_pages);
  };
  if (metrics) {
    observers.decoding = [&metrics](const InputDocument& input, const PageSlot& page) {
      AddMetrics(input, page, *metrics);
    };
  }
  observers.document = [&, start_ns = MonotonicNs()](const FinishedDocument& document) {
    report.OnDocument(document);
    history.AddDocument(document, SecondsSince(start_ns));
    if (target.is_stdout()) target.Print(document);
  };
  return observers;
}

void LogStart(const Job& job, const ReadingModel& reader, const Resources& resources) {
  LogSkipped(job.discovery);
  const Model& model = *reader.loaded.model;
  Log(job.target.is_stdout() ? LogLevel::kDebug : LogLevel::kInfo,
      fmt::format("reading {}{} with {} ({}, {}, {})",
                  Counted(job.discovery.documents.size(), "document"),
                  job.shard.is_all() ? "" : " of " + job.shard.Text(), reader.loaded.dir,
                  PrecisionName(model.precision()), model.kernels().name,
                  Counted(resources.threads, "thread")));
  if (!reader.layout.dir.empty()) {
    Log(job.target.is_stdout() ? LogLevel::kDebug : LogLevel::kInfo,
        "regions are found by " + reader.layout.dir);
  }
  Log(LogLevel::kDebug,
      fmt::format("model {} loaded in {:.3f} s; {}, attention cache {} MiB of {} MiB memory",
                  reader.loaded.id, reader.loaded.wall_s, Counted(resources.slots, "slot"),
                  Grouped(resources.kv_cache_bytes >> 20), Grouped(resources.memory_bytes >> 20)));
}

// Everybody who wants to know how far the run is. Thread-safe.
class Watchers {
 public:
  explicit Watchers(const Settings& settings)
      : line_(settings.Number("progress-interval"), settings.Flag("quiet")) {
    if (!settings.Text("metrics-file").empty()) metrics_.emplace(settings.Text("metrics-file"));
  }

  void Show(const Progress& progress) {
    SetPagesInFlight(progress.pages_in_flight());
    line_.Show(progress);
    timeline_.Add(SecondsSince(start_ns_), progress);
    if (metrics_) metrics_->Show(progress);
  }

  void Finish(const RunReport& run, int exit_code) {
    line_.Finish();
    timeline_.Finish(run.wall_s, run.totals);
    if (!metrics_) return;
    metrics_->Finish(run.totals, {exit_code, run.cpu_s + run.children_cpu_s, run.peak_memory_bytes,
                                  run.failure_counts});
  }

  const Timeline& timeline() const { return timeline_; }

 private:
  int64_t start_ns_ = MonotonicNs();
  ProgressLine line_;
  Timeline timeline_;
  std::optional<PrometheusFile> metrics_;
};

void WarnOfDamage(const Ledger& ledger) {
  if (ledger.damaged_records() == 0) return;
  Log(LogLevel::kWarning, DisplayName(ledger.root().path()) +
                              "/.platen/: " + Counted(ledger.damaged_records(), "damaged line") +
                              " in ledgers, ignored");
}

void PrintSummary(const Settings& settings, const Job& job, const RunReport& run,
                  const OcrReport& report, const std::string& reports_dir) {
  if (!run.trace_error.empty()) Log(LogLevel::kWarning, run.trace_error);
  report.WarnOfDoubts(run.totals.pages_doubtful, job.target, reports_dir);
  if (settings.Flag("quiet") || job.target.is_stdout()) return;
  const std::string summary =
      report.Summary(run) + report.WhereResultsAre(run, job.target.dir(), reports_dir);
  std::fputs(summary.c_str(), stdout);
}

// A full disk ends the run, and whoever reads why also wants to know what is left.
RunReport RunAll(const RunOptions& options, const RunTools& tools, Ledger& ledger, Job& job) {
  try {
    return Run(options, tools, ledger, std::move(job.discovery.documents));
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kEnvironment || job.target.is_stdout()) throw;
    throw Error(e.kind(), e.location(),
                e.reason() + "; what is finished is kept, and the same command does the rest",
                e.code());
  }
}

// Reads the job's documents; the report is complete when it returns.
int ReadDocuments(const Settings& settings, const Words& words, Job& job) {
  const int64_t started_s = std::time(nullptr);
  const Resources resources = ResourcesFrom(settings);
  LimitThreads(resources.threads);
  const ReadingModel reader(settings, resources);
  DateMessages();
  LogStart(job, reader, resources);

  OcrReport report;
  std::optional<MetricsFile> metrics;
  if (!settings.Text("metrics").empty()) metrics.emplace(settings.Text("metrics"));
  Watchers watchers(settings);
  StopRequest stop(job.deadline);
  Ledger ledger(job.target.dir(), IdentityOf(settings, job, reader), job.shard);
  WarnOfDamage(ledger);
  RefuseEarlierClashes(ledger, job.discovery.documents, settings.Text("images"));
  RunHistory history(ledger.state(), ledger.temporary(), UtcTime(started_s), ledger.next_run());
  const ReadLimits limits = TimedReadLimits(settings);
  const RunTools tools{
      [limits](const std::string& path) { return DocumentReader::Open(path, limits); },
      ToolsWith(*reader.layout.detector),
      *reader.recognizer,
      [&stop] { return stop.Asked(); },
      [&watchers](const Progress& progress) { watchers.Show(progress); },
      ObserversOf(report, job.target, history, metrics)};
  const RunOptions options = MakeRunOptions(settings, reader, resources);
  const RunReport run = RunAll(options, tools, ledger, job);

  const int exit_code = ExitCodeOf(run, settings.Text("fail-on") == "doubtful");
  watchers.Finish(run, exit_code);
  const RunFacts facts{settings,
                       words,
                       options,
                       run,
                       reader.loaded.dir,
                       reader.loaded.model->packed_path(),
                       reader.loaded.model->draft_head(),
                       reader.loaded.model->kernels().name,
                       reader.loaded.wall_s,
                       reader.loaded.cpu_s,
                       job.discovery,
                       report.doubtful(),
                       watchers.timeline().points(),
                       started_s,
                       ledger.next_run(),
                       job.shard,
                       ResultName(run, exit_code, stop.by_deadline())};
  const RunJsonTexts json = RunJson(facts);
  WriteFileAtomically(ledger.reports(), "run.json", json.file, ledger.temporary());
  history.Finish(json.line);
  ledger.RecordEnd(EndOf(facts));
  PrintSummary(settings, job, run, report, ledger.reports().path());
  return exit_code;
}

}  // namespace

const CommandSpec& OcrCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen ocr INPUT... [-o DIR] [options]"},
      .description =
          "Reads images (PNG, JPEG, JPEG 2000, TIFF, WebP, GIF, BMP, PNM) and PDF files and "
          "writes the text of each as DIR/<name of the input>.txt, .md and .json (and more: "
          "--format); without -o the text is printed. INPUT is a file, a folder (read with "
          "everything below it), a pattern such as 'scans/*.tif' or 'scans/**/*.tif' (at any "
          "depth), or - for standard input: an image, a PDF, or a list of names, one a line, # "
          "for comments. DIR/run.json reports what was done and what it cost, "
          "DIR/failures.jsonl what failed. The same command again skips what is finished and "
          "tries again what failed.\n\n"
          "  platen ocr page.png\n"
          "  platen ocr scans -o text\n"
          "  platen ocr book.pdf --pages 1-20 --format txt -o text\n"
          "  find /archive -name '*.tif' -print0 | platen ocr - --input-root /archive -o text\n",
      .options = OcrOptions(),
      .after =
          "Values in brackets are defaults. Every option can also stand in a configuration file "
          "(\"draft_length\": 2; \"inputs\": [\"scans\"]) or in the environment "
          "(PLATEN_DRAFT_LENGTH=2). Command line > environment > configuration file > default.\n",
      .argument = {.kind = Argument::Kind::kFiles}};
  return spec;
}

int RunOcrCommand(const Words& words) {
  const auto parsed = ParseCommand(OcrCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  if (settings.Text("log-format") == "json") LogAsJson();
  SetLogLevel(settings.Flag("verbose") ? "debug"
              : settings.Flag("quiet") && settings.IsDefault("log-level")
                  ? "warning"
                  : settings.Text("log-level"));
  const FileWatch watch;
  try {
    LowerPriority(settings);
    const std::unique_ptr<Job> job = FindWork(settings);
    if (settings.Flag("dry-run")) return ShowPlan(settings, *job);
    CatchInterrupts();  // until here there is nothing that an interrupt could leave undone
    job->target.Prepare();
    KeepOpenCvSingleThreaded();
    return ReadDocuments(settings, words, *job);
  } catch (const ReaderGone&) {  // as any filter ends
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
    return kExitEnvironment;
  }
}

}  // namespace platen
