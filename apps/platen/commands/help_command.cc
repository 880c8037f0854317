#include <cstdio>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/commands/commands.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {
namespace {

void PrintOverview() {
  std::printf(
      "platen turns scans into text on CPU cores.\n"
      "\n"
      "  platen ocr page.png               print the text of a page\n"
      "  platen ocr scans -o text          read a folder, write text/scans/...\n"
      "  platen COMMAND --help             the options of a command\n"
      "\n"
      "Commands:\n");
  for (const Command& command : Commands()) {
    std::printf("  %-10s %s\n", command.name, command.summary);
  }
  std::printf(
      "  %-10s %s\n"
      "\n"
      "Exit codes: 0 every document is read, now or before; 1 finished, but a page or document\n"
      "failed, or a format was found that is not read; 2 wrong options or configuration, a named\n"
      "input that does not exist, or no document at all; 3 model, disk or memory; 130 "
      "interrupted:\n"
      "the same command continues.\n",
      "--version", "the version");
}

}  // namespace

int RunHelpCommand(const Words& words) {
  if (words.empty()) {
    PrintOverview();
    return 0;
  }
  std::vector<std::string> names;
  for (const Command& command : Commands()) {
    if (words[0] == command.name && words[0] != "help") return command.run({"--help"});
    names.emplace_back(command.name);
  }
  const std::string nearest = NearestName(words[0], names);
  throw Error(ErrorKind::kUsage, {"", words[0]},
              "no such command; " + (nearest.empty() ? "platen help lists all of them"
                                                     : "did you mean " + nearest + "?"));
}

}  // namespace platen
