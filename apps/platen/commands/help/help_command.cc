// platen help: the overview, the help of a command, or man pages.

#include <fmt/format.h>

#include <cstdio>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/help/man_page.h"

namespace platen {
namespace {

void PrintOverview() {
  fmt::print(
      "platen turns scans into text on CPU cores.\n"
      "\n"
      "  platen ocr page.png               print the text of a page\n"
      "  platen ocr scans -o text          read a folder, write text/scans/...\n"
      "  platen COMMAND --help             the options of a command\n");
  for (const CommandGroup& group : CommandGroups()) {
    fmt::print("\n{}:\n", group.heading);
    for (const Command& command : group.commands) {
      fmt::print("  {:<16} {}\n", command.name, command.summary);
    }
  }
  fmt::print("  {:<16} {}\n\n{}\n", "--version", "the version",
             Wrapped("Exit codes: " + MeaningsInALine(CommonExitCodes()) + ".", 0, 100));
}

// "bench kernels" of the words bench, kernels.
CalledCommand Called(const Words& words) {
  const std::string wanted = fmt::format("{}", fmt::join(words, " "));
  for (const CalledCommand& called : CalledCommands(CommandGroups())) {
    if (called.name == wanted) return called;
  }
  if (words.size() > 1 && FindCommand(words[0]) != nullptr) {
    ThrowUsage(wanted, "no such command; platen help " + words[0] + " shows what there is");
  }
  ThrowUnknownCommand(wanted);
}

}  // namespace

const CommandSpec& HelpCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen help [COMMAND] [options]"},
      .description =
          "Shows an overview, or the help of a command.\n\n"
          "  platen help ocr\n"
          "  platen help bench kernels\n"
          "  platen help --man > platen.1\n",
      .options = {{.name = "man",
                   .type = OptionType::kFlag,
                   .default_value = "false",
                   .group = "Options",
                   .help = "Print a man page: of all commands, or of COMMAND.",
                   .in_environment = false},
                  HelpOption("Options")},
      .argument = {.kind = Argument::Kind::kCommand}};
  return spec;
}

int RunHelpCommand(const Words& words) {
  const auto settings = ParseCommand(HelpCommand(), words);
  if (!settings) return kExitDone;
  const Words& command = settings->positional();
  if (settings->Flag("man")) {
    const std::string page =
        command.empty() ? ManPage(CommandGroups()) : ManPageOf(Called(command));
    std::fputs(page.c_str(), stdout);
  } else if (command.empty()) {
    PrintOverview();
  } else {
    Called(command).command->run({"--help"});
  }
  return kExitDone;
}

}  // namespace platen
