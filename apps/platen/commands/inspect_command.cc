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

}  // namespace

const CommandSpec& InspectCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen inspect [MODEL]"},
      .description =
          "Reads a snapshot folder, weights included, checks every part against the others and "
          "describes it. Without MODEL: the bundled model.\n",
      .options = InspectOptions(),
      .exit_codes = {{"3", "the model cannot be used"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunInspectCommand(const Words& words) {
  const auto settings = ParseCommand(InspectCommand(), words);
  if (!settings) return kExitDone;
  const InspectReport report = InspectSnapshot(ModelArgument(*settings, "inspect"));
  const std::string text =
      settings->Flag("json") ? InspectReportJson(report) + "\n" : FormatInspectReport(report);
  std::fputs(text.c_str(), stdout);
  return report.usable() ? kExitDone : kExitEnvironment;
}

}  // namespace platen
