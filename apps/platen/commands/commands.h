// The subcommands. Each declares what it takes, parses its words, does its work and returns an exit
// code; it throws Error for what main.cc turns into a message and an exit code.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/cli/command_spec.h"

namespace platen {

using Words = std::vector<std::string>;

const CommandSpec& BenchCommand();
const CommandSpec& CleanCommand();
const CommandSpec& CompareCommand();
const CommandSpec& CompletionCommand();
const CommandSpec& DoctorCommand();
const CommandSpec& DraftVocabularyCommand();
const CommandSpec& ExportCommand();
const CommandSpec& FetchCommand();
const CommandSpec& ForwardCommand();
const CommandSpec& HelpCommand();
const CommandSpec& InspectCommand();
const CommandSpec& OcrCommand();
const CommandSpec& PackCommand();
const CommandSpec& RunCommand();
const CommandSpec& StatusCommand();
const CommandSpec& ReportCommand();
const CommandSpec& TuneCommand();

int RunBenchCommand(const Words& words);
int RunCleanCommand(const Words& words);
int RunCompareCommand(const Words& words);
int RunCompletionCommand(const Words& words);
int RunDoctorCommand(const Words& words);
int RunDraftVocabularyCommand(const Words& words);
int RunExportCommand(const Words& words);
int RunFetchCommand(const Words& words);
int RunForwardCommand(const Words& words);
int RunHelpCommand(const Words& words);
int RunInspectCommand(const Words& words);
int RunOcrCommand(const Words& words);
int RunPackCommand(const Words& words);
int RunRunCommand(const Words& words);
int RunStatusCommand(const Words& words);
int RunReportCommand(const Words& words);
int RunTuneCommand(const Words& words);

struct Command {
  std::string name;
  std::string summary;              // in a line
  const CommandSpec& (*spec)();     // made when it is asked for: a start makes one
  int (*run)(const Words& words);   // the words after its name
  std::vector<Command> kinds = {};  // commands whose names follow its own
};

// Commands under the headings of the overview, in its order.
struct CommandGroup {
  std::string heading;
  std::vector<Command> commands;
};
const std::vector<CommandGroup>& CommandGroups();

// The kinds of `platen bench`.
const std::vector<Command>& BenchKinds();

const Command* FindCommand(const std::string& name);  // nullptr: there is none

// Throws Error(kUsage) that names the nearest command.
[[noreturn]] void ThrowUnknownCommand(const std::string& name);

// Every command of the groups, each followed by its kinds, with all the words that call it: "ocr",
// "bench kernels".
struct CalledCommand {
  std::string name;
  const Command* command;
};
std::vector<CalledCommand> CalledCommands(const std::vector<CommandGroup>& groups);

}  // namespace platen
