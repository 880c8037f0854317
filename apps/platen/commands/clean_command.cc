// platen clean: removes stored results.

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/cli/results_folder.h"
#include "apps/platen/commands/commands.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "pipeline/clean_results.h"
#include "pipeline/ledger.h"

namespace platen {
namespace {

const OptionTable& CleanOptions() {
  static const OptionTable table = {
      {.name = "older-than",
       .default_value = "0h",
       .value_name = "AGE",
       .group = "Options",
       .help = "Only results that nothing was added to for so long: 12h, 30d, 8w."},
      {.name = "superseded",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Only results that outputs were made from once and are made from no more: the "
               "document has changed since, or was read again with another model or options."},
      {.name = "at-most",
       .value_name = "SIZE",
       .group = "Options",
       .help = "Only as many as it takes for the results to need no more than that (512M, 20G): "
               "those that were added to longest ago."},
      {.name = "dry-run",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Remove nothing; say what would go."},
      HelpOption("Options"),
  };
  return table;
}

std::chrono::hours AgeFrom(const std::string& text) {
  constexpr int64_t kMost = 1'000'000;
  int64_t count = -1;
  const char* end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, count);
  const int64_t hours = unit + 1 != end ? 0
                        : *unit == 'h'  ? 1
                        : *unit == 'd'  ? 24
                        : *unit == 'w'  ? 168
                                        : 0;
  if (error != std::errc() || hours == 0 || count < 0 || count > kMost) {
    throw Error(ErrorKind::kUsage, {"", "--older-than"},
                "\"" + text + "\" is no age; write 12h, 30d or 8w");
  }
  return std::chrono::hours(count * hours);
}

}  // namespace

const CommandSpec& CleanCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen clean OUT [options]"},
      .description =
          "Removes the results that platen ocr has stored in OUT/.platen/results, and says what "
          "that frees. Outputs stay, and finished documents stay finished. But another format, "
          "or a copy of a document, is read again then.\n\n"
          "  platen clean text --older-than 30d\n"
          "  platen clean text --superseded\n"
          "  platen clean text --at-most 20G\n",
      .options = CleanOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunCleanCommand(const Words& words) {
  const auto settings = ParseCommand(CleanCommand(), words);
  if (!settings) return kExitDone;
  const std::chrono::hours age = AgeFrom(settings->Text("older-than"));
  const std::string dir = ResultsFolder(*settings, "clean");
  const bool dry_run = settings->Flag("dry-run");
  ResultsToClean choice;
  // Without an age all go, also those of a time to come: the clock may have been set back.
  if (age.count() > 0) choice.before = std::chrono::system_clock::now() - age;
  if (!settings->Text("at-most").empty()) {
    choice.at_most = ByteCount(settings->Text("at-most"), 0, "--at-most");
  }
  const Ledger ledger(dir, {});
  if (settings->Flag("superseded")) {
    choice.wanted = [keys = SupersededResults(ledger.common(), ledger)](const std::string& key) {
      return keys.contains(key);
    };
  }
  const CleanedResults cleaned =
      CleanResults(ledger.common().Below("results", Folder::Missing::kFail), choice, dry_run);
  fmt::print("{} {}, {}; {} kept, {}\n", Counted(cleaned.files, "stored result"),
             dry_run ? "would be removed" : "removed", SizeText(cleaned.bytes),
             Grouped(cleaned.kept_files), SizeText(cleaned.kept_bytes));
  return kExitDone;
}

}  // namespace platen
