// platen compare: the same pages through two precisions or two models.

#include <cstdio>
#include <memory>

#include "apps/platen/commands.h"
#include "apps/platen/compare_options.h"
#include "apps/platen/compare_report.h"
#include "apps/platen/exit_codes.h"
#include "apps/platen/help.h"
#include "apps/platen/inputs.h"
#include "apps/platen/log.h"
#include "apps/platen/model_options.h"
#include "apps/platen/ocr_options.h"
#include "apps/platen/packed_options.h"
#include "apps/platen/thread_limit.h"
#include "model/linears.h"
#include "model/support/error.h"
#include "pipeline/telemetry.h"

namespace platen {
namespace {

void PrintHelp() {
  std::printf(
      "Usage: platen compare INPUT... [--model A] [--with B] [--precision LIST] [options]\n"
      "\n"
      "Reads the same pages twice and shows how the results differ: characters, tokens, and the\n"
      "model's numbers behind them. Two precisions of one model, f32 and int8 unless --precision\n"
      "says otherwise, or two models. INPUT is named as for platen ocr. No outputs are written.\n"
      "\n"
      "  platen compare scans                          what int8 changes\n"
      "  platen compare scans --with other-model       two models\n"
      "  platen compare scans --fail-above 0.5         as a test: exit code 1 above 0.5 %%\n"
      "%s\n"
      "CER: characters to insert, delete or replace to get B's text from A's, for each of A's.\n"
      "Tokens are compared region by region. Logits are compared on A's tokens, so that one early\n"
      "difference does not hide what follows. Exit codes: 0 compared, 1 some pages failed or more\n"
      "differs than --fail-above allows, 2 wrong options, 3 model, disk or memory.\n",
      OptionHelp(CompareOptions()).c_str());
}

// A model with what it needs to read pages, and what it has cost so far.
struct Side {
  std::unique_ptr<Model> model;
  std::unique_ptr<PageReader> reader;
  SideReport report;

  PageReading Read(const Image& page, const PageLayout& layout) {
    const int64_t start_ns = WallNowNs();
    const double start_core_s = ProcessCpuSeconds();
    PageReading reading = reader->Read(page, layout);
    report.wall_s += static_cast<double>(WallNowNs() - start_ns) * 1e-9;
    report.core_s += ProcessCpuSeconds() - start_core_s;
    return reading;
  }
};

Side LoadSide(const Settings& settings, const CompareSide& chosen) {
  const int64_t start_ns = WallNowNs();
  Side side;
  side.model = std::make_unique<Model>(
      std::make_unique<Snapshot>(LoadSnapshot(chosen.model)), KernelsFrom(settings),
      chosen.precision, PackingFrom(settings, chosen.model, chosen.precision));
  PageReaderOptions options;
  options.reading = side.model->config().reading;
  options.reading.granularity = GranularityFrom(settings, options.reading);
  options.task = settings.Text("task");
  options.text_height = settings.Number("text-height");
  options.max_new_tokens = static_cast<int>(settings.Integer("max-new-tokens"));
  options.kv_cache_bytes = settings.Integer("kv-cache-mib") << 20;
  side.reader = std::make_unique<PageReader>(*side.model, options);
  side.report.model = chosen.model;
  side.report.precision = PrecisionName(chosen.precision);
  side.report.weight_bytes = PackedWeightBytes(*side.model);
  side.report.load_s = static_cast<double>(WallNowNs() - start_ns) * 1e-9;
  return side;
}

// Both sides over all pages, one page after the other.
class Comparison {
 public:
  Comparison(const Settings& settings, Side a, Side b)
      : a_(std::move(a)),
        b_(std::move(b)),
        limits_(ReadLimitsFrom(settings)),
        detector_(MakeClassicalDetector()) {
    if (SameTokens(a_.model->tokenizer(), b_.model->tokenizer())) {
      logits_ = std::make_unique<LogitComparer>(*a_.model, *b_.model);
    }
    if (!settings.Text("pages").empty()) ranges_ = ParsePageRanges(settings.Text("pages"));
  }

  void AddDocument(const InputDocument& document) {
    try {
      if (!document.error.empty()) throw Error(ErrorKind::kInput, {}, document.error);
      const auto reader = DocumentReader::Open(document.path, limits_);
      for (const int page : SelectPages(ranges_, reader->num_pages())) {
        AddPage(document, *reader, page);
      }
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      AddFailure(document, 0, e);
    }
  }

  CompareReport Report() const {
    CompareReport report;
    report.a = a_.report;
    report.b = b_.report;
    report.pages = pages_;
    report.summary = Summarise(pages_);
    report.peak_memory_bytes = PeakMemoryBytes();
    return report;
  }

 private:
  void AddPage(const InputDocument& document, const DocumentReader& reader, int number) {
    try {
      Image page = reader.ReadPage(number - 1).image;
      const PageLayout layout = detector_->Detect(page);
      if (layout.rotation != 0) page = RotatePage(page, layout.rotation);
      const PageReading a = a_.Read(page, layout);
      const PageReading b = b_.Read(page, layout);
      PageComparison compared = ComparePage(a, b);
      // Without common tokens their numbers mean different things.
      compared.same_regions = compared.same_regions && logits_ != nullptr;
      if (!compared.same_regions) compared.tokens = {};
      if (compared.same_regions) compared.logits = logits_->Compare(a, b);
      compared.name = document.path;
      compared.page = number;
      Log(LogLevel::kDebug, document.path + " page " + std::to_string(number) + " compared");
      pages_.push_back(std::move(compared));
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      AddFailure(document, number, e);
    }
  }

  void AddFailure(const InputDocument& document, int page, const Error& error) {
    Log(LogLevel::kWarning, DisplayName(document.path) +
                                (page > 0 ? " page " + std::to_string(page) : "") + ": " +
                                error.reason());
    PageComparison failed;
    failed.name = document.path;
    failed.page = page;
    failed.error = error.reason();
    pages_.push_back(std::move(failed));
  }

  Side a_, b_;
  ReadLimits limits_;
  std::unique_ptr<LayoutDetector> detector_;
  std::unique_ptr<LogitComparer> logits_;  // null: the models have different tokens
  std::vector<PageRange> ranges_;
  std::vector<PageComparison> pages_;
};

int ExitCodeOf(const Settings& settings, const ComparisonSummary& all) {
  if (all.failed_pages > 0 || all.failed_regions > 0) return kExitSomeFailed;
  const bool limited = !settings.Text("fail-above").empty();
  const bool above = limited && 100 * all.text.cer() > settings.Number("fail-above");
  return above ? kExitSomeFailed : kExitDone;
}

}  // namespace

int RunCompareCommand(const Words& words) {
  const Settings settings = ParseSettings(CompareOptions(), words);
  if (settings.Flag("help")) {
    PrintHelp();
    return kExitDone;
  }
  SetLogLevel(settings.Text("log-level"));
  RequireInputs(settings);
  if (!settings.Text("pages").empty()) ParsePageRanges(settings.Text("pages"));
  const CompareSides sides = SidesFrom(settings);
  InputSpec spec;
  spec.input_root = "/";  // nothing is written: equal names in different folders do not collide
  AddNamedInputs(settings, spec);
  const Discovery discovery = DiscoverDocuments(spec);
  if (discovery.documents.empty()) Log(LogLevel::kWarning, "no documents found");

  KeepOpenCvSingleThreaded();
  LimitThreads(ThreadsFrom(settings));
  Side a = LoadSide(settings, sides.a);
  Side b = LoadSide(settings, sides.b);
  Comparison comparison(settings, std::move(a), std::move(b));
  for (const InputDocument& document : discovery.documents) comparison.AddDocument(document);

  CompareReport report = comparison.Report();
  report.kernels = KernelsFrom(settings).name;
  report.threads = ThreadsFrom(settings);
  const std::string text =
      settings.Flag("json")
          ? CompareReportJson(report)
          : CompareReportText(report, static_cast<size_t>(settings.Integer("worst")));
  std::fputs(text.c_str(), stdout);
  return ExitCodeOf(settings, report.summary);
}

}  // namespace platen
