// platen export: outputs of another format from what was read before.

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/file_watch.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/cli/results_folder.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/ocr/ocr_options.h"
#include "apps/platen/commands/ocr/reading_settings.h"
#include "apps/platen/commands/ocr/result_settings.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "pipeline/export.h"
#include "pipeline/hardware.h"

namespace platen {
namespace {

constexpr size_t kNamesShown = 10;

const OptionTable& ExportOptions() {
  static const OptionTable table = {
      OptionFrom(OcrOptions(), "format", "Options"),
      OptionFrom(OcrOptions(), "keep", "Options"),
      OptionFrom(OcrOptions(), "reflow", "Options"),
      OptionFrom(OcrOptions(), "password-file", "Options"),
      ThreadsOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

// No more than there is memory for: each decodes a page, in the worst case one of 200 million
// pixels.
int ThreadsToExport(const Settings& settings) {
  constexpr int64_t kBytesOfAThread = int64_t{1200} << 20;
  const int64_t fit = std::max<int64_t>(1, UsableMemoryBytes() / kBytesOfAThread);
  return static_cast<int>(std::min<int64_t>(ThreadsFrom(settings), fit));
}

void WarnOf(const std::vector<NotExported>& documents) {
  for (size_t i = 0; i < std::min(documents.size(), kNamesShown); ++i) {
    Log(LogLevel::kWarning, DisplayName(documents[i].name) + ": " + documents[i].reason);
  }
  if (documents.size() <= kNamesShown) return;
  Log(LogLevel::kWarning, "and " + Counted(documents.size() - kNamesShown, "more document"));
}

}  // namespace

const CommandSpec& ExportCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen export OUT [options]"},
      .description =
          "Writes the documents that platen ocr has read into the folder OUT in other formats, "
          "beside the outputs that are there. Nothing is read again: the outputs are made from "
          "the results stored in OUT/.platen/results, and are the same as if platen ocr had "
          "written them.\n\n"
          "  platen export text --format hocr,alto\n"
          "  platen export text --format md --keep headers,page-numbers\n\n"
          "html and pdf show the pages: for them the scans must be where they were.\n",
      .options = ExportOptions(),
      .exit_codes = {{"1", "some documents were not exported; platen ocr makes their outputs"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunExportCommand(const Words& words) {
  const auto settings = ParseCommand(ExportCommand(), words);
  if (!settings) return kExitDone;
  const std::string dir = ResultsFolder(*settings, "export");
  ResultIdentity identity;
  identity.formats = settings->List("format");
  identity.rendering = RenderingOf(OcrOptions(), *settings);
  const RenderOptions render = RenderOptionsFrom(*settings);
  const auto open = [passwords = PasswordsFrom(settings->Text("password-file"))](
                        const std::string& path, const std::vector<DocumentSetting>& as) {
    return OpenAsRead(path, as, passwords);
  };
  const FileWatch watch;
  CatchInterrupts();
  LimitThreads(ThreadsToExport(*settings));
  Ledger ledger(dir, identity);
  const ExportReport report = ExportDocuments(ledger, render, {open, Interrupted});
  if (report.documents == 0 && report.not_exported.empty() && !Interrupted()) {
    throw Error(
        ErrorKind::kUsage, {DisplayName(dir), ""},
        "no document that was read is recorded here; platen ocr with the same inputs and -o "
        "records them (what is stored is not read again)");
  }
  WarnOf(report.not_exported);
  for (const auto& [path, note] : report.notes) {
    Log(LogLevel::kWarning, DisplayName(path) + " " + note);
  }
  fmt::print("{} ({}) exported: {}, {}\n", Counted(report.documents, "document"),
             Counted(report.pages, "page"), Counted(report.files, "file"), SizeText(report.bytes));
  if (Interrupted()) return kExitInterrupted;
  return report.not_exported.empty() ? kExitDone : kExitSomeFailed;
}

}  // namespace platen
