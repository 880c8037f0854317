// platen compare: the same pages through two precisions or two models.

#include <cstdio>
#include <memory>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/inputs.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/compare/choose_groups.h"
#include "apps/platen/commands/compare/compare_options.h"
#include "apps/platen/commands/compare/compare_report.h"
#include "apps/platen/commands/compare/compare_side.h"
#include "apps/platen/commands/compare/page_walk.h"
#include "bench/comparison.h"
#include "model/support/error.h"
#include "pipeline/telemetry.h"

namespace platen {
namespace {

// Both sides over all pages.
class Comparison {
 public:
  Comparison(Side a, Side b) : a_(std::move(a)), b_(std::move(b)) {
    if (SameTokens(a_.model->tokenizer(), b_.model->tokenizer())) {
      logits_ = std::make_unique<LogitComparer>(*a_.model, *b_.model);
    }
  }

  void Add(const WalkedPage& page) {
    const PageReading a = a_.Read(page);
    const PageReading b = b_.Read(page);
    PageComparison compared = ComparePage(a, b);
    // Without common tokens their numbers mean different things.
    compared.same_regions = compared.same_regions && logits_ != nullptr;
    if (!compared.same_regions) compared.tokens = {};
    if (compared.same_regions) compared.logits = logits_->Compare(a, b);
    compared.name = page.document.path;
    compared.page = page.number;
    pages_.push_back(std::move(compared));
  }

  void AddFailure(const InputDocument& document, int page, const Error& error) {
    WarnOfPage(document, page, error);
    PageComparison failed;
    failed.name = document.path;
    failed.page = page;
    failed.error = error.reason();
    pages_.push_back(std::move(failed));
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
  Side a_, b_;
  std::unique_ptr<LogitComparer> logits_;  // null: the models have different tokens
  std::vector<PageComparison> pages_;
};

CompareReport CompareSidesOn(const Settings& settings, const CompareSides& sides,
                             const PageWalk& walk) {
  Side a = LoadSide(settings, sides.a);
  Side b = LoadSide(settings, sides.b);
  Comparison comparison(std::move(a), std::move(b));
  walk.ForEach([&](const WalkedPage& page) { comparison.Add(page); },
               [&](const InputDocument& document, int page, const Error& error) {
                 comparison.AddFailure(document, page, error);
               });
  CompareReport report = comparison.Report();
  report.kernels = KernelsFrom(settings).name;
  report.threads = ThreadsFrom(settings);
  return report;
}

int ExitCodeOf(const Settings& settings, const ComparisonSummary& all) {
  if (all.failed_pages > 0 || all.failed_regions > 0) return kExitSomeFailed;
  const bool limited = !settings.Text("fail-above").empty();
  const bool above = limited && 100 * all.text.cer() > settings.Number("fail-above");
  return above ? kExitSomeFailed : kExitDone;
}

}  // namespace

const CommandSpec& CompareCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen compare INPUT... [--model A] [--with B] [--precision LIST] [options]"},
      .description =
          "Reads the same pages twice and shows how the results differ: characters, tokens, and "
          "the model's numbers behind them. Two precisions of one model, f32 and int8 unless "
          "--precision says otherwise, two kinds of its attention, or two models. INPUT is "
          "named as for platen ocr. No outputs are written.\n\n"
          "  platen compare scans                          what int8 changes\n"
          "  platen compare scans --with other-model       two models\n"
          "  platen compare scans --attention f32,int8\n"
          "  platen compare scans --fail-above 0.5         as a test: exit code 1 above 0.5 %\n"
          "  platen compare scans --choose-groups          group sizes of the int8 weights for "
          "these pages\n",
      .options = CompareOptions(),
      .after =
          "CER: characters to insert, delete or replace to get B's text from A's, for each of "
          "A's. Tokens are compared region by region. Logits are compared on A's tokens, so "
          "that one early difference does not hide what follows.\n",
      .exit_codes = {{"0", "compared"},
                     {"1", "some pages failed, or more differs than --fail-above allows"}},
      .argument = {.kind = Argument::Kind::kFiles}};
  return spec;
}

int RunCompareCommand(const Words& words) {
  const auto parsed = ParseCommand(CompareCommand(), words);
  if (!parsed) return kExitDone;
  const Settings& settings = *parsed;
  SetLogLevel(settings.Text("log-level"));
  RequireInputs(settings, "compare");
  const CompareSides sides = SidesFrom(settings);
  const PageWalk walk(settings);
  if (walk.num_documents() == 0) Log(LogLevel::kWarning, "no documents found");
  KeepOpenCvSingleThreaded();
  LimitThreads(ThreadsFrom(settings));
  if (settings.Flag("choose-groups")) return ChooseGroups(settings, sides.a.model, walk);

  const CompareReport report = CompareSidesOn(settings, sides, walk);
  const std::string text =
      settings.Flag("json")
          ? CompareReportJson(report)
          : CompareReportText(report, static_cast<size_t>(settings.Integer("worst")));
  std::fputs(text.c_str(), stdout);
  return ExitCodeOf(settings, report.summary);
}

}  // namespace platen
