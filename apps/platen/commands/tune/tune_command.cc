// platen tune-mtp: declared here. Recording is reading; the rest is done by platen-tune, which lies
// beside platen and alone is linked with OpenBLAS.

#include "apps/platen/commands/tune/tune_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/help.h"
#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/option_values.h"
#include "model/kernels/kernels.h"
#include "model/support/edit_distance.h"
#include "model/support/folder.h"

namespace platen {
namespace {

// OpenBLAS chooses its kernels as it is loaded and takes slow ones on a CPU that it does not know.
void NameTheBlasCore() {
  const bool avx512 = FindKernels("avx512") != nullptr, avx2 = FindKernels("avx2") != nullptr;
  if (avx512 || avx2) ::setenv("OPENBLAS_CORETYPE", avx512 ? "SkylakeX" : "Haswell", 0);
}

int BecomePlatenTune(const char* kind, const Words& words) {
  NameTheBlasCore();
  std::string program = ExecutableFolder() + "/platen-tune", name = kind;
  Words kept = words;
  std::vector<char*> arguments = {program.data(), name.data()};
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ThrowFileError(program, "be started", errno);
}

int RunTrain(const Words& words) { return BecomePlatenTune("train", words); }
int RunEvaluate(const Words& words) { return BecomePlatenTune("evaluate", words); }
int RunInspect(const Words& words) { return BecomePlatenTune("inspect", words); }
int RunInstall(const Words& words) { return BecomePlatenTune("install", words); }

}  // namespace

const std::vector<Command>& TuneKinds() {
  static const std::vector<Command> kinds = {
      {"record", "read pages and keep what training needs", TuneRecordCommand, RunTuneRecord},
      {"train", "train the draft layer, or heads, on what was recorded", TuneTrainCommand,
       RunTrain},
      {"evaluate", "compare drafts before and after on pages not trained on", TuneEvaluateCommand,
       RunEvaluate},
      {"inspect", "show drafts, hits and misses of recorded pages in a web page",
       TuneInspectCommand, RunInspect},
      {"install", "use the trained weights in every run, if they are better", TuneInstallCommand,
       RunInstall}};
  return kinds;
}

const CommandSpec& TuneCommand() {
  static const CommandSpec spec = [] {
    CommandSpec made = {
        .synopsis = {"platen tune-mtp KIND WORK [options]"},
        .description =
            "Trains what a model drafts with (multi-token prediction) on your own pages. Drafts "
            "that are right more often make reading faster; the text stays the same, because the "
            "model checks every draft. All kinds share one work folder:\n\n",
        .options = {HelpOption("Options")}};
    for (const Command& kind : TuneKinds()) {
      made.description += fmt::format("  {:<9} {}\n", kind.name, kind.summary);
      made.argument.choices.push_back(kind.name);
    }
    made.description +=
        "\n"
        "  platen tune-mtp record work scans\n"
        "  platen tune-mtp train work\n"
        "  platen tune-mtp evaluate work\n"
        "  platen tune-mtp install work\n"
        "  platen ocr scans -o text\n";
    return made;
  }();
  return spec;
}

int RunTuneCommand(const Words& words) {
  const std::string wanted = words.empty() ? "" : words[0];
  if (wanted == "--help" || wanted == "-h") {
    PrintHelp(TuneCommand());
    return kExitDone;
  }
  const std::vector<Command>& kinds = TuneKinds();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const Command& k) { return wanted == k.name; });
  if (kind == kinds.end()) {
    const std::string nearest = NearestName(wanted, TuneCommand().argument.choices);
    ThrowUsage("tune-mtp", "say first what to do: record, train, evaluate, inspect or install" +
                               (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
  return kind->run(Words(words.begin() + 1, words.end()));
}

}  // namespace platen
