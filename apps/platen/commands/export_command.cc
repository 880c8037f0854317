// platen export: outputs of another format from what was read before.

#include <fmt/format.h>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/cli/results_folder.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/result_settings.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"
#include "pipeline/export.h"

namespace platen {
namespace {

constexpr size_t kNamesShown = 10;

const OptionTable& ExportOptions() {
  static const OptionTable table = {
      OptionFrom(OcrOptions(), "format", "Options"),
      OptionFrom(OcrOptions(), "keep", "Options"),
      OptionFrom(OcrOptions(), "reflow", "Options"),
      HelpOption("Options"),
  };
  return table;
}

CommandHelp Help() {
  return {
      "Usage: platen export OUT [options]\n"
      "\n"
      "Writes the documents that platen ocr has read into the folder OUT in other formats, beside\n"
      "the outputs that are there. Nothing is read again: the outputs are made from the results\n"
      "stored in OUT/.platen/results, and are the same as if platen ocr had written them.\n"
      "\n"
      "  platen export text --format md --keep headers,page-numbers\n",
      "\nExit code 1: some documents have no stored results; platen ocr makes their outputs.\n"};
}

void WarnOfMissing(const std::vector<std::string>& names) {
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    Log(LogLevel::kWarning, DisplayName(names[i]) + ": no stored results; platen ocr reads it");
  }
  if (names.size() <= kNamesShown) return;
  Log(LogLevel::kWarning, "and " + Counted(names.size() - kNamesShown, "more document"));
}

}  // namespace

int RunExportCommand(const Words& words) {
  const auto settings = ParseCommand(ExportOptions(), words, Help());
  if (!settings) return kExitDone;
  const std::string dir = ResultsFolder(*settings, "export");
  ResultIdentity identity;
  identity.formats = settings->List("format");
  identity.rendering = RenderingOf(OcrOptions(), *settings);
  const RenderOptions render = RenderOptionsFrom(*settings);
  CatchInterrupts();
  Ledger ledger(dir, identity);
  const ExportReport report = ExportDocuments(ledger, render, Interrupted);
  WarnOfMissing(report.without_results);
  fmt::print("{} ({}) exported: {}, {}\n", Counted(report.documents, "document"),
             Counted(report.pages, "page"), Counted(report.files, "file"), SizeText(report.bytes));
  if (Interrupted()) return kExitInterrupted;
  return report.without_results.empty() ? kExitDone : kExitSomeFailed;
}

}  // namespace platen
