// platen completion: what completes its words in a shell.

#include <cstdio>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/commands.h"
#include "apps/platen/commands/completion/completion.h"

namespace platen {

const CommandSpec& CompletionCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen completion bash|zsh|fish"},
      .description =
          "Prints what lets a shell complete platen's commands, options and their values. An "
          "installation has it already; a program that runs from its build folder is completed "
          "after\n\n"
          "  source <(platen completion bash)       in bash or zsh, with that shell's name\n"
          "  platen completion fish | source        in fish\n",
      .options = {HelpOption("Options")},
      .argument = {.choices = {"bash", "zsh", "fish"}}};
  return spec;
}

int RunCompletionCommand(const Words& words) {
  const auto settings = ParseCommand(CompletionCommand(), words);
  if (!settings) return kExitDone;
  const Words& given = settings->positional();
  const std::string shell = given.size() == 1 ? given[0] : "";
  const auto& groups = CommandGroups();
  std::string text;
  if (shell == "bash") {
    text = BashCompletion(groups);
  } else if (shell == "zsh") {
    text = ZshCompletion(groups);
  } else if (shell == "fish") {
    text = FishCompletion(groups);
  } else {
    ThrowUsage("completion", "name one shell: bash, zsh or fish");
  }
  std::fputs(text.c_str(), stdout);
  return kExitDone;
}

}  // namespace platen
