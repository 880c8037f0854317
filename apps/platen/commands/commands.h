// The subcommands. Each parses its words, does its work and returns an exit code; it throws Error
// for what main.cc turns into a message and an exit code.
#pragma once

#include <string>
#include <vector>

namespace platen {

using Words = std::vector<std::string>;

int RunCleanCommand(const Words& words);
int RunExportCommand(const Words& words);
int RunOcrCommand(const Words& words);
int RunRunCommand(const Words& words);
int RunCompareCommand(const Words& words);
int RunFetchCommand(const Words& words);
int RunInspectCommand(const Words& words);
int RunPackCommand(const Words& words);
int RunDraftVocabularyCommand(const Words& words);
int RunForwardCommand(const Words& words);
int RunBenchCommand(const Words& words);
int RunDoctorCommand(const Words& words);
int RunHelpCommand(const Words& words);

struct Command {
  const char* name;
  const char* summary;
  int (*run)(const Words& words);
};

// Commands under the headings of the overview, in its order.
struct CommandGroup {
  const char* heading;
  std::vector<Command> commands;
};
const std::vector<CommandGroup>& CommandGroups();

const Command* FindCommand(const std::string& name);  // nullptr: there is none

}  // namespace platen
