// platen: one program, several commands.

#include <cstdio>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/misspelt_variables.h"

namespace platen {

namespace {

int Dispatch(const Words& words) {
  if (words.empty()) {
    RunHelpCommand({});
    return kExitUsage;
  }
  const std::string& name = words[0];
  if (name == "--version" || name == "version") {
    std::printf("platen %s\n", PLATEN_VERSION);
    return kExitDone;
  }
  if (name == "--help" || name == "-h") return RunHelpCommand({});
  const Command* command = FindCommand(name);
  if (command == nullptr) ThrowUnknownCommand(name);
  for (const std::string& notice : MisspeltVariables()) Log(LogLevel::kWarning, notice);
  return command->run({words.begin() + 1, words.end()});
}

}  // namespace
}  // namespace platen

int main(int argc, char** argv) {
  platen::EndBlasThreads();
  return platen::RunReporting(
      [&] { return platen::Dispatch(platen::Words(argv + 1, argv + argc)); });
}
