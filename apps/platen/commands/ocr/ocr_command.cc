// platen ocr: the main job.

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/inputs.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/metrics_file.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/cli/progress_line.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/decoding_settings.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/ocr_report.h"
#include "apps/platen/commands/ocr/ocr_target.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/resources.h"
#include "apps/platen/commands/ocr/result_settings.h"
#include "apps/platen/commands/ocr/run_json.h"
#include "apps/platen/commands/ocr/shard_option.h"
#include "model/engine/engine.h"
#include "model/families/model.h"
#include "model/families/reading_config.h"
#include "model/kernels/kernels.h"
#include "model/support/attempt.h"
#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/utf8.h"
#include "pipeline/engine_recognizer.h"
#include "pipeline/layout_choice.h"
#include "pipeline/model_id.h"
#include "pipeline/run.h"
#include "stages/readers/file_kind.h"
#include "stages/text_over_pdf.h"

namespace platen {
namespace {

// What there is to do: everything that can be refused is refused here, before anything is written
// or read and before the model is loaded.
struct Job {
  explicit Job(const Settings& settings) : target(settings) {}
  OcrTarget target;
  std::unique_ptr<SpooledInput> standard_input;
  Discovery discovery;
  Shard shard;
};

// The pdf of a PDF is that PDF with text, which qpdf writes.
void RequireQpdf(const std::vector<std::string>& formats, const Discovery& discovery) {
  if (std::find(formats.begin(), formats.end(), "pdf") == formats.end() || HasQpdf()) return;
  for (const InputDocument& document : discovery.documents) {
    if (!document.error.empty()) continue;
    FileKind kind;
    const std::string failure = Attempt([&] { kind = LookAtFile(document.path); });
    if (!failure.empty() || kind.format != DocumentFormat::kPdf) continue;
    throw Error(ErrorKind::kEnvironment, {"", "--format pdf"},
                "of a PDF (" + DisplayName(document.shown_name()) +
                    ") needs the program qpdf, which is not there; install qpdf, or leave pdf out");
  }
}

std::unique_ptr<Job> FindWork(const Settings& settings) {
  RequireInputs(settings, "ocr");
  if (!settings.Text("pages").empty()) ParsePageRanges(settings.Text("pages"));
  RenderOptionsFrom(settings);
  ReadLimitsFrom(settings);
  auto job = std::make_unique<Job>(settings);
  job->shard = ShardFrom(settings, ::getenv);
  if (!job->shard.is_all() && job->target.is_stdout()) {
    throw Error(ErrorKind::kUsage, {"", "--shard"}, "needs an output folder: -o DIR");
  }
  InputSpec spec;
  spec.output_dir = job->target.dir();
  spec.input_root = settings.Text("input-root");
  spec.formats = job->target.formats();
  job->standard_input = AddNamedInputs(settings, spec);
  job->discovery = DiscoverDocuments(spec);
  RequireDocuments(job->discovery);
  RequireQpdf(job->target.formats(), job->discovery);
  const size_t documents = job->discovery.documents.size();
  if (!job->target.was_named() && documents > 1) {
    throw Error(ErrorKind::kUsage, {},
                "say where to write " + Counted(documents, "document") +
                    ": -o DIR (or -o - to print them all)");
  }
  job->discovery.documents = job->shard.DocumentsOf(std::move(job->discovery.documents));
  return job;
}

// Before the model is loaded, which may take long. Its own file says what it was trained for.
void CheckGranularity(const Settings& settings) {
  if (settings.Text("granularity") == "auto") return;
  const std::string dir = LocateModel(settings.Text("model"));
  GranularityFrom(settings, ReadReadingConfig(dir + "/platen.json", ""));
}

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  std::string dir;
  std::string id;
  double wall_s = 0;
  double cpu_s = 0;
};

// Throws Error(kUsage) for a drafter that this model does not have.
LoadedModel LoadModel(const Settings& settings, int64_t kv_cache_bytes) {
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  LoadedModel loaded;
  loaded.dir = LocateModel(settings.Text("model"));
  loaded.model = LoadModelFrom(settings, loaded.dir);
  loaded.id = ModelId(*loaded.model);
  loaded.engine = std::make_unique<Engine>(
      *loaded.model, EngineOptionsFrom(settings, *loaded.model, kv_cache_bytes));
  loaded.wall_s = SecondsSince(start_ns);
  loaded.cpu_s = ProcessCpuSeconds() - start_cpu_s;
  return loaded;
}

void WarnOfUntrainedTask(const ReadingConfig& reading, const std::string& task) {
  const auto& tasks = reading.tasks;
  if (tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end()) return;
  Log(LogLevel::kWarning, "this model was not trained for --task " + task +
                              "; expect nothing useful (a GLM-OCR snapshot reads text, tables and "
                              "formulas)");
}

// What stands in the outputs: what was taken, not "auto".
Recognition RecognitionOf(InputKind kind, const Settings& settings, const LoadedModel& loaded,
                          const LayoutChoice& layout, const ReadOptions& read) {
  const ReadingConfig& reading = loaded.model->snapshot().reading;
  Recognition recognition;
  recognition.settings = ResultSettingsOf(
      OcrOptions(), settings, kind,
      {{"model", loaded.id},
       {"layout-model", layout.id},
       {"granularity", GranularityName(read.granularity.value_or(reading.granularity))},
       {"precision", PrecisionName(loaded.model->precision())},
       {"attention", VisionAttentionName(loaded.model->attention())}});
  recognition.fingerprint = FingerprintOf(recognition.settings);
  return recognition;
}

ResultIdentity IdentityOf(const Settings& settings, const Job& job, const LoadedModel& loaded,
                          const LayoutChoice& layout, const ReadOptions& read) {
  ResultIdentity identity;
  identity.images = RecognitionOf(InputKind::kImage, settings, loaded, layout, read);
  identity.pdfs = RecognitionOf(InputKind::kPdf, settings, loaded, layout, read);
  identity.formats = job.target.formats();
  identity.rendering = RenderingOf(OcrOptions(), settings);
  identity.names_outputs = !settings.Text("images").empty();
  identity.verify_inputs = settings.Flag("verify-inputs");
  return identity;
}

RunOptions MakeRunOptions(const Settings& settings, const LoadedModel& loaded,
                          const ReadOptions& read, const Resources& resources) {
  RunOptions options;
  options.version = PLATEN_VERSION;
  options.model_id = loaded.id;
  if (!settings.Text("pages").empty()) {
    options.source.pages = ParsePageRanges(settings.Text("pages"));
  }
  options.source.force = settings.Flag("force");
  options.render = RenderOptionsFrom(settings);
  options.images = settings.Text("images");
  options.pipeline.reading = loaded.model->snapshot().reading;
  options.source.read = read;
  options.source.read.pictures = !options.images.empty();
  options.pipeline.threads = resources.threads;
  options.pipeline.slots = resources.slots;
  options.pipeline.pixels = resources.pixels;
  options.pipeline.patch_budget = static_cast<int>(settings.Integer("batch-patches"));
  options.pipeline.row_budget = static_cast<int>(settings.Integer("batch-rows"));
  options.trace_path = settings.Text("trace");
  return options;
}

int ExitCodeOf(const RunReport& report, bool fail_on_doubtful) {
  if (report.interrupted) return kExitInterrupted;
  const bool failed = report.totals.pages_failed > 0 || report.totals.documents_failed > 0;
  const bool doubtful = fail_on_doubtful && report.totals.pages_doubtful > 0;
  return failed || doubtful ? kExitSomeFailed : kExitDone;
}

const char* ResultName(const RunReport& report, int exit_code) {
  if (exit_code == kExitInterrupted) return "interrupted";
  if (exit_code == kExitDone) return "done";
  const bool failed = report.totals.pages_failed > 0 || report.totals.documents_failed > 0;
  return failed ? "some pages failed" : "some pages are doubtful";
}

// A model and what is around it, from the settings to the engine behind the graph.
struct Reader {
  Reader(const Settings& settings, const Resources& resources)
      : loaded(LoadModel(settings, resources.kv_cache_bytes)),
        read(ReadOptionsFrom(settings, loaded.model->snapshot().reading)),
        layout(ChooseLayout(settings.Text("layout-model"), loaded.dir, BoxRulesFrom(settings),
                            loaded.model->kernels())),
        recognizer(std::make_unique<EngineRecognizer>(*loaded.model, *loaded.engine)) {
    if (!layout.warning.empty()) Log(LogLevel::kWarning, layout.warning);
    read.sampling = SamplingFrom(settings);
    read.text_layer = TextLayerFrom(settings.Text("text-layer"), read.task);
    WarnOfUntrainedTask(loaded.model->snapshot().reading, settings.Text("task"));
  }

  LoadedModel loaded;
  ReadOptions read;
  LayoutChoice layout;
  std::unique_ptr<EngineRecognizer> recognizer;
};

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

SinkObservers ObserversOf(OcrReport& report, OcrTarget& target,
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
  observers.document = [&report, &target](const FinishedDocument& document) {
    report.OnDocument(document);
    if (target.is_stdout()) target.Print(document);
  };
  return observers;
}

void LogStart(const Job& job, const Reader& reader, const Resources& resources) {
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

// Reads the job's documents; the report is complete when it returns.
int ReadDocuments(const Settings& settings, Job& job) {
  const auto started = std::chrono::system_clock::now();
  const Resources resources = ResourcesFrom(settings);
  LimitThreads(resources.threads);
  Reader reader(settings, resources);
  DateMessages();
  LogStart(job, reader, resources);

  OcrReport report;
  std::optional<MetricsFile> metrics;
  if (!settings.Text("metrics").empty()) metrics.emplace(settings.Text("metrics"));
  ProgressLine line(settings.Number("progress-interval"), settings.Flag("quiet"));
  const ReadLimits limits = ReadLimitsFrom(settings);
  const RunTools tools{
      [limits](const std::string& path) { return DocumentReader::Open(path, limits); },
      ToolsWith(*reader.layout.detector),
      *reader.recognizer,
      Interrupted,
      [&line](const Progress& progress) {
        SetPagesInFlight(progress.pages_in_flight());
        line.Show(progress);
      },
      ObserversOf(report, job.target, metrics)};
  const RunOptions options = MakeRunOptions(settings, reader.loaded, reader.read, resources);
  Ledger ledger(job.target.dir(),
                IdentityOf(settings, job, reader.loaded, reader.layout, reader.read), job.shard);
  if (ledger.damaged_records() > 0) {
    Log(LogLevel::kWarning, DisplayName(job.target.dir()) +
                                "/.platen/: " + Counted(ledger.damaged_records(), "damaged line") +
                                " in ledgers, ignored");
  }
  const RunReport run = Run(options, tools, ledger, std::move(job.discovery.documents));
  line.Finish();

  const int exit_code = ExitCodeOf(run, settings.Text("fail-on") == "doubtful");
  const RunFacts facts{settings,
                       options,
                       run,
                       reader.loaded.dir,
                       reader.loaded.model->packed_path(),
                       reader.loaded.model->kernels().name,
                       reader.loaded.wall_s,
                       reader.loaded.cpu_s,
                       job.discovery,
                       report.doubtful(),
                       started,
                       job.shard,
                       ResultName(run, exit_code)};
  WriteFileAtomically(ledger.reports(), "run.json", RunJson(facts), ledger.temporary());
  ledger.RecordEnd(EndOf(facts));
  if (!run.trace_error.empty()) Log(LogLevel::kWarning, run.trace_error);
  report.WarnOfDoubts(run.totals.pages_doubtful, job.target, ledger.reports().path());
  if (settings.Flag("quiet") || job.target.is_stdout()) return exit_code;
  const std::string summary =
      report.Summary(run) + report.WhereResultsAre(run, job.target.dir(), ledger.reports().path());
  std::fputs(summary.c_str(), stdout);
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
  SetLogLevel(settings.Flag("verbose") ? "debug"
              : settings.Flag("quiet") && settings.IsDefault("log-level")
                  ? "warning"
                  : settings.Text("log-level"));
  try {
    const std::unique_ptr<Job> job = FindWork(settings);
    CheckGranularity(settings);
    CatchInterrupts();  // until here there is nothing that an interrupt could leave undone
    job->target.Prepare();
    KeepOpenCvSingleThreaded();
    return ReadDocuments(settings, *job);
  } catch (const ReaderGone&) {  // as any filter ends
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
    return kExitEnvironment;
  }
}

}  // namespace platen
