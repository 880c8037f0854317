// platen help: the overview, or the help of a command.

#include <fmt/format.h>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/commands.h"
#include "model/support/edit_distance.h"

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
  fmt::print(
      "  {:<16} {}\n"
      "\n"
      "Exit codes: 0 every document is read, now or before; 1 finished, but a page or document\n"
      "failed, or a format was found that is not read; 2 wrong options or configuration, a named\n"
      "input that does not exist, or no document at all; 3 model, disk, memory or network; 130 "
      "interrupted:\n"
      "the same command continues.\n",
      "--version", "the version");
}

[[noreturn]] void ThrowUnknownCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const CommandGroup& group : CommandGroups()) {
    for (const Command& command : group.commands) names.emplace_back(command.name);
  }
  const std::string nearest = NearestName(name, names);
  ThrowUsage(name, nearest.empty() ? "no such command; platen help lists all of them"
                                   : fmt::format("no such command; did you mean {}?", nearest));
}

}  // namespace

int RunHelpCommand(const Words& words) {
  if (words.empty() || words[0] == "help") {
    PrintOverview();
    return kExitDone;
  }
  const Command* command = FindCommand(words[0]);
  if (command == nullptr) ThrowUnknownCommand(words[0]);
  return command->run({"--help"});
}

}  // namespace platen
