// platen ocr: the main job.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "apps/platen/commands.h"
#include "apps/platen/exit_codes.h"
#include "apps/platen/help.h"
#include "apps/platen/inputs.h"
#include "apps/platen/interrupt.h"
#include "apps/platen/locate.h"
#include "apps/platen/log.h"
#include "apps/platen/model_options.h"
#include "apps/platen/ocr_options.h"
#include "apps/platen/packed_options.h"
#include "apps/platen/progress_line.h"
#include "apps/platen/run_json.h"
#include "apps/platen/thread_limit.h"
#include "model/engine.h"
#include "model/kernels/kernels.h"
#include "model/model.h"
#include "model/ops/open_blas.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "model/support/mapped_file.h"
#include "pipeline/engine_recognizer.h"
#include "model/support/hash.h"
#include "pipeline/model_id.h"
#include "pipeline/run.h"

namespace platen {
namespace {

// Of a run's lines, the share with low confidence above which the model is probably out of its depth.
constexpr double kSuspiciousShare = 0.3;
constexpr int64_t kFewestLinesToJudge = 20;

void PrintHelp() {
  std::printf(
      "Usage: platen ocr INPUT... -o DIR [options]\n"
      "\n"
      "Reads images (PNG, JPEG, TIFF, WebP, BMP, PNM) and PDF files and writes the text of each as\n"
      "DIR/<path of the input>.txt, .md and .json. INPUT is a file, a folder (read with everything\n"
      "below it), a pattern such as 'scans/*.tif', or - for a list of names on standard input.\n"
      "DIR/run.json reports what was done and what it cost. The same command again skips what is\n"
      "finished and tries again what failed.\n"
      "\n"
      "  platen ocr scans -o text\n"
      "  platen ocr book.pdf --pages 1-20 --format txt -o text\n"
      "  find /archive -name '*.tif' -print0 | platen ocr - --input-root /archive -o text\n"
      "%s\n"
      "Values in brackets are defaults. Command line > environment > configuration file > default.\n",
      OptionHelp(OcrOptions()).c_str());
}

void CheckUsage(const Settings& settings) {
  if (settings.Text("output").empty()) {
    throw Error(ErrorKind::kUsage, {"", "--output"}, "is required: -o DIR");
  }
  RequireInputs(settings);
}

Discovery Discover(const Settings& settings) {
  InputSpec spec;
  spec.output_dir = settings.Text("output");
  spec.input_root = settings.Text("input-root");
  AddNamedInputs(settings, spec);
  return DiscoverDocuments(spec);
}

// The output folder is made before the inputs are looked for, so that it can be left out of them,
// and before the model is loaded, so that its faults show at once.
void PrepareOutputFolder(const std::string& dir) {
  try {
    CreateFolders(dir);
  } catch (const Error& e) {
    throw Error(ErrorKind::kEnvironment, e.location(), e.reason());
  }
  if (::access(dir.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorKind::kEnvironment, {DisplayName(dir), ""}, "the folder cannot be written to");
  }
}

struct LoadedModel {
  std::unique_ptr<Model> model;
  std::unique_ptr<Engine> engine;
  std::string dir;
  std::string id;
  double wall_s = 0;
  double cpu_s = 0;
};

LoadedModel LoadModel(const Settings& settings) {
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  LoadedModel loaded;
  loaded.dir = LocateModel(settings.Text("model"));
  loaded.model = LoadModelFrom(settings, loaded.dir);
  loaded.id = ModelId(*loaded.model);
  EngineOptions options;
  options.draft_length = static_cast<int>(settings.Integer("draft-length"));
  options.adaptive_drafts = settings.Text("draft-policy") == "adaptive";
  options.kv_cache_bytes = settings.Integer("kv-cache-mib") << 20;
  loaded.engine = std::make_unique<Engine>(*loaded.model, options);
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

RunOptions MakeRunOptions(const Settings& settings, const LoadedModel& loaded,
                          const ReadingConfig& reading) {
  RunOptions options;
  options.output_dir = settings.Text("output");
  options.version = PLATEN_VERSION;
  options.model_id = loaded.id;
  options.settings = {{"platen", PLATEN_VERSION},
                      {"model", loaded.id},
                      {"task", settings.Text("task")},
                      {"granularity", GranularityName(reading.granularity)},
                      {"precision", PrecisionName(loaded.model->precision())},
                      {"attention", VisionAttentionName(loaded.model->vision_attention())}};
  if (loaded.model->precision() == Precision::kF32OpenBlas) {
    const OpenBlasInfo info = DescribeOpenBlas();
    options.settings.emplace_back("open_blas", info.version + " " + info.core);
  }
  for (const char* name : {"text-height", "repetition-penalty", "max-new-tokens", "dpi",
                           "pages", "max-pixels", "composite-alpha"}) {
    options.settings.emplace_back(ConfigKey(name), settings.Text(name));
  }
  Hasher fingerprint;
  for (const auto& [name, value] : options.settings) {
    fingerprint.Add(name);
    fingerprint.Add(value);
  }
  options.identity = {fingerprint.Hex(), settings.List("format")};
  if (!settings.Text("pages").empty()) {
    options.source.pages = ParsePageRanges(settings.Text("pages"));
  }
  options.source.force = settings.Flag("force");
  options.page = {reading.granularity, settings.Text("task"), reading.scripts};
  options.threads = ThreadsFrom(settings);
  options.slots = static_cast<int>(settings.Integer("slots"));
  options.patch_budget = static_cast<int>(settings.Integer("batch-patches"));
  options.row_budget = static_cast<int>(settings.Integer("batch-rows"));
  options.trace_path = settings.Text("trace");
  return options;
}

PageTools MakePageTools(const LayoutDetector& detector, const ReadingConfig& reading,
                        double text_height) {
  PageTools tools;
  tools.segment = [&detector](Image& page) {
    PageLayout layout = detector.Detect(page);
    if (layout.rotation != 0) page = RotatePage(page, layout.rotation);
    return layout;
  };
  tools.crop = [reading, text_height](const Image& page, const PageLayout& layout) {
    return MakeCrops(page, layout, reading, text_height);
  };
  return tools;
}

int ExitCodeOf(const RunReport& report) {
  if (report.interrupted) return kExitInterrupted;
  const bool failed = report.totals.pages_failed > 0 || report.totals.documents_failed > 0;
  return failed ? kExitSomeFailed : kExitDone;
}

const char* ResultName(int exit_code) {
  if (exit_code == kExitInterrupted) return "interrupted";
  return exit_code == kExitDone ? "done" : "some pages failed";
}

void WarnAfterRun(const RunReport& report, const ReadingConfig& reading) {
  if (!report.trace_error.empty()) Log(LogLevel::kWarning, report.trace_error);
  constexpr size_t kShown = 10;
  for (size_t i = 0; i < report.failures.size() && i < kShown; ++i) {
    const Failure& failure = report.failures[i];
    Log(LogLevel::kWarning, failure.name +
                                (failure.page > 0 ? " page " + std::to_string(failure.page) : "") +
                                ": " + failure.error);
  }
  if (report.failures.size() > kShown) {
    Log(LogLevel::kWarning, "and more; all failures are in run.json");
  }
  const Progress& totals = report.totals;
  const auto low = static_cast<double>(totals.low_confidence_lines);
  if (totals.lines < kFewestLinesToJudge ||
      low < kSuspiciousShare * static_cast<double>(totals.lines)) {
    return;
  }
  std::string scripts;
  for (const std::string& script : reading.scripts) scripts += (scripts.empty() ? "" : ", ") + script;
  Log(LogLevel::kWarning,
      std::to_string(totals.low_confidence_lines) + " of " + std::to_string(totals.lines) +
          " lines were read with low confidence" +
          (scripts.empty() ? "" : "; this model was trained on " + scripts +
                                      " script only, other scripts come out as nonsense"));
}

void PrintSummary(const RunReport& report, const std::string& output_dir) {
  const Progress& t = report.totals;
  std::printf("%lld of %lld documents done, %lld pages read, %lld failed",
              static_cast<long long>(t.documents_done + t.documents_skipped),
              static_cast<long long>(t.documents_total),
              static_cast<long long>(t.pages_done - t.pages_failed),
              static_cast<long long>(t.pages_failed));
  if (t.documents_skipped > 0) {
    std::printf(", %lld documents were finished before", static_cast<long long>(t.documents_skipped));
  }
  std::printf("; %.1f s, %.0f pages per core-hour\n", report.wall_s, PagesPerCoreHour(report));
  std::printf("text: %s  report: %s/run.json\n", output_dir.c_str(), output_dir.c_str());
}

}  // namespace

int RunOcrCommand(const Words& words) {
  const Settings settings = ParseSettings(OcrOptions(), words);
  if (settings.Flag("help")) {
    PrintHelp();
    return kExitDone;
  }
  SetLogLevel(settings.Text("log-level"));
  CheckUsage(settings);
  if (!settings.Text("pages").empty()) ParsePageRanges(settings.Text("pages"));
  const std::string output_dir = settings.Text("output");
  PrepareOutputFolder(output_dir);
  Discovery discovery = Discover(settings);
  if (discovery.documents.empty()) Log(LogLevel::kWarning, "no documents found");

  CatchInterrupts();
  KeepOpenCvSingleThreaded();
  LimitThreads(ThreadsFrom(settings));
  const LoadedModel loaded = LoadModel(settings);
  ReadingConfig reading = loaded.model->config().reading;
  reading.granularity = GranularityFrom(settings, reading);
  WarnOfUntrainedTask(reading, settings.Text("task"));

  RecognitionOptions recognition;
  recognition.task_text = reading.prompts.at(settings.Text("task"));
  recognition.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
  recognition.repetition_penalty = static_cast<float>(settings.Number("repetition-penalty"));
  EngineRecognizer recognizer(*loaded.model, *loaded.engine, recognition);

  const std::unique_ptr<LayoutDetector> detector = MakeClassicalDetector();
  const ReadLimits limits = ReadLimitsFrom(settings);
  ProgressLine line(settings.Number("progress-interval"), settings.Flag("quiet"));
  const RunTools tools{
      [limits](const std::string& path) { return DocumentReader::Open(path, limits); },
      MakePageTools(*detector, reading, settings.Number("text-height")), recognizer, Interrupted,
      [&line](const Progress& progress) { line.Show(progress); }};
  const RunOptions options = MakeRunOptions(settings, loaded, reading);
  const RunReport report = Run(options, tools, std::move(discovery.documents));
  line.Finish();

  const int exit_code = ExitCodeOf(report);
  const RunFacts facts{settings, options, report, loaded.dir, loaded.model->packed_path(),
                       loaded.model->kernels().name,
                       loaded.wall_s, loaded.cpu_s, discovery.skipped_hidden,
                       discovery.skipped_foreign, discovery.repeated, ResultName(exit_code)};
  WriteFileAtomically(output_dir + "/run.json", RunJson(facts), output_dir + "/.platen/tmp");
  WarnAfterRun(report, reading);
  if (!settings.Flag("quiet")) PrintSummary(report, output_dir);
  return exit_code;
}

}  // namespace platen
