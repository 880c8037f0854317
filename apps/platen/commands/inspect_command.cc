#include <cstdio>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/help.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/commands.h"
#include "model/families/inspect.h"
#include "model/support/error.h"

namespace platen {
namespace {

const OptionTable& InspectOptions() {
  static const OptionTable table = {
      {.name = "json",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Print the report as one JSON object."},
      {.name = "help",
       .type = OptionType::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Show this help.",
       .short_name = 'h'},
  };
  return table;
}

}  // namespace

int RunInspectCommand(const Words& words) {
  const Settings settings = ParseSettings(InspectOptions(), words);
  if (settings.Flag("help")) {
    std::printf(
        "Usage: platen inspect [MODEL]\n\n"
        "Reads a snapshot folder, weights included, checks every part against the others and\n"
        "describes it. Without MODEL: the bundled model. Exit code 3 if it cannot be used.\n%s",
        OptionHelp(InspectOptions()).c_str());
    return kExitDone;
  }
  if (settings.positional().size() > 1) {
    throw Error(ErrorKind::kUsage, {"", "inspect"}, "takes one MODEL");
  }
  const std::string model =
      LocateModel(settings.positional().empty() ? "" : settings.positional()[0]);
  const InspectReport report = InspectSnapshot(model);
  const std::string text =
      settings.Flag("json") ? InspectReportJson(report) + "\n" : FormatInspectReport(report);
  std::fputs(text.c_str(), stdout);
  return report.usable() ? kExitDone : kExitEnvironment;
}

}  // namespace platen
