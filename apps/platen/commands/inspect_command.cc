// platen inspect: checks and describes a model snapshot.

#include <cstdio>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/commands/commands.h"
#include "model/families/inspect.h"

namespace platen {
namespace {

const OptionTable& InspectOptions() {
  static const OptionTable table = {
      JsonOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

CommandHelp Help() {
  return {
      "Usage: platen inspect [MODEL]\n\n"
      "Reads a snapshot folder, weights included, checks every part against the others and\n"
      "describes it. Without MODEL: the bundled model. Exit code 3 if it cannot be used.\n"};
}

}  // namespace

int RunInspectCommand(const Words& words) {
  const auto settings = ParseCommand(InspectOptions(), words, Help());
  if (!settings) return kExitDone;
  const InspectReport report = InspectSnapshot(ModelArgument(*settings, "inspect"));
  const std::string text =
      settings->Flag("json") ? InspectReportJson(report) + "\n" : FormatInspectReport(report);
  std::fputs(text.c_str(), stdout);
  return report.usable() ? kExitDone : kExitEnvironment;
}

}  // namespace platen
