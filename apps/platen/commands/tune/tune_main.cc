// platen-tune: training of drafts. A program of its own so that no other is linked with OpenBLAS;
// platen tune-mtp starts it.

#include <malloc.h>

#include <string>
#include <vector>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/commands/tune/tune_command.h"
#include "apps/platen/commands/tune/tune_programs.h"
#include "apps/platen/commands/tune/work_folder.h"

namespace platen {
namespace {

struct Program {
  const char* kind;
  const CommandSpec& (*spec)();
  int (*run)(const Settings& settings);
};
constexpr Program kPrograms[] = {{"train", TuneTrainCommand, RunTrain},
                                 {"evaluate", TuneEvaluateCommand, RunEvaluate},
                                 {"inspect", TuneInspectCommand, RunInspect},
                                 {"install", TuneInstallCommand, RunInstall}};

int Run(const Words& words) {
  for (const Program& program : kPrograms) {
    if (words.empty() || words[0] != program.kind) continue;
    const auto settings = ParseCommand(program.spec(), Words(words.begin() + 1, words.end()));
    if (!settings) return kExitDone;
    if (settings->positional().size() != 1) {
      ThrowUsage(std::string("tune-mtp ") + program.kind, "takes one work folder");
    }
    return WithoutExitOne([&] { return program.run(*settings); });
  }
  ThrowUsage("platen-tune", "is started by platen tune-mtp");
}

}  // namespace
}  // namespace platen

int main(int argc, char** argv) {
  // Matrices of the same sizes come and go in every step: their memory is kept.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  return platen::RunReporting([&] { return platen::Run(platen::Words(argv + 1, argv + argc)); });
}
