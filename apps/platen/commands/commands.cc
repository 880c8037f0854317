#include "apps/platen/commands/commands.h"

#include <fmt/format.h>

#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/tune/tune_command.h"
#include "model/support/edit_distance.h"

namespace platen {

const std::vector<CommandGroup>& CommandGroups() {
  static const std::vector<CommandGroup> groups = {
      {"The job",
       {{"ocr", "read scans and write their text", OcrCommand, RunOcrCommand},
        {"status", "show what a folder of results holds, and whether it is done", StatusCommand,
         RunStatusCommand},
        {"report", "write a page about what was read, what failed and what it cost", ReportCommand,
         RunReportCommand},
        {"export", "write what was read in other formats", ExportCommand, RunExportCommand},
        {"clean", "remove stored results", CleanCommand, RunCleanCommand},
        {"run", "read requests from a file, a line each, and write the answers", RunCommand,
         RunRunCommand}}},
      {"Models",
       {{"fetch", "download a model from the Hugging Face hub", FetchCommand, RunFetchCommand},
        {"inspect", "check and describe a model snapshot", InspectCommand, RunInspectCommand},
        {"pack", "pack a model's weights once, for quick starts", PackCommand, RunPackCommand},
        {"draft-vocabulary", "choose the tokens that drafts are made of, from your texts",
         DraftVocabularyCommand, RunDraftVocabularyCommand},
        {"tune-mtp", "train what the model drafts with on your own pages", TuneCommand,
         RunTuneCommand, TuneKinds()}}},
      {"Measuring",
       {{"doctor", "show what this machine offers and what will be used", DoctorCommand,
         RunDoctorCommand},
        {"compare", "show how two precisions or two models differ on your pages", CompareCommand,
         RunCompareCommand},
        {"forward", "run one request through the model and show what comes out", ForwardCommand,
         RunForwardCommand},
        {"bench", "measure this machine and the kernels", BenchCommand, RunBenchCommand,
         BenchKinds()}}},
      {"Help",
       {{"help", "show this help, or that of a command", HelpCommand, RunHelpCommand},
        {"completion", "print what completes platen's words in a shell", CompletionCommand,
         RunCompletionCommand}}},
  };
  return groups;
}

const Command* FindCommand(const std::string& name) {
  for (const CommandGroup& group : CommandGroups()) {
    for (const Command& command : group.commands) {
      if (name == command.name) return &command;
    }
  }
  return nullptr;
}

void ThrowUnknownCommand(const std::string& name) {
  std::vector<std::string> names;
  for (const CommandGroup& group : CommandGroups()) {
    for (const Command& command : group.commands) names.push_back(command.name);
  }
  const std::string nearest = NearestName(name, names);
  ThrowUsage(name, nearest.empty() ? "no such command; platen help lists all of them"
                                   : fmt::format("no such command; did you mean {}?", nearest));
}

std::vector<CalledCommand> CalledCommands(const std::vector<CommandGroup>& groups) {
  std::vector<CalledCommand> called;
  for (const CommandGroup& group : groups) {
    for (const Command& command : group.commands) {
      called.push_back({command.name, &command});
      for (const Command& kind : command.kinds) {
        called.push_back({command.name + " " + kind.name, &kind});
      }
    }
  }
  return called;
}

}  // namespace platen
