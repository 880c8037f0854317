#include "apps/platen/commands/commands.h"

namespace platen {

const std::vector<CommandGroup>& CommandGroups() {
  static const std::vector<CommandGroup> groups = {
      {"The job",
       {{"ocr", "read scans and write their text", RunOcrCommand},
        {"export", "write what was read in other formats", RunExportCommand},
        {"clean", "remove stored results", RunCleanCommand},
        {"run", "read requests from a file, a line each, and write the answers", RunRunCommand}}},
      {"Models",
       {{"fetch", "download a model from the Hugging Face hub", RunFetchCommand},
        {"inspect", "check and describe a model snapshot", RunInspectCommand},
        {"pack", "pack a model's weights once, for quick starts", RunPackCommand},
        {"draft-vocabulary", "choose the tokens that drafts are made of, from your texts",
         RunDraftVocabularyCommand}}},
      {"Measuring",
       {{"doctor", "show what this machine offers and what will be used", RunDoctorCommand},
        {"compare", "show how two precisions or two models differ on your pages",
         RunCompareCommand},
        {"forward", "run one request through the model and show what comes out", RunForwardCommand},
        {"bench", "measure this machine and the kernels", RunBenchCommand}}},
      {"Help", {{"help", "show this help, or that of a command", RunHelpCommand}}},
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

}  // namespace platen
