// platen bench: what this machine does, as shares of its own peaks.

#include <fmt/format.h>

#include <algorithm>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {

const std::vector<Command>& BenchKinds() {
  static const std::vector<Command> kinds = {
      {"kernels", "the inner loops at the shapes of GLM-OCR", BenchKernelsCommand, RunBenchKernels},
      {"model", "the model's passes: vision, prefill, decoding", BenchModelCommand, RunBenchModel},
      {"decode", "decoding with drafts: sequences, drafts, gain", BenchDecodeCommand,
       RunBenchDecode},
      {"pages", "whole pages of a fixed workload, stage by stage", BenchPagesCommand,
       RunBenchPages},
      {"layout", "pages through a layout model", BenchLayoutCommand, RunBenchLayout}};
  return kinds;
}

const CommandSpec& BenchCommand() {
  static const CommandSpec spec = [] {
    CommandSpec made = {
        .synopsis = {"platen bench KIND [options]"},
        .description =
            "Each speed stands beside what this machine can do at most, measured in the same run. "
            "One thread unless --threads says otherwise. Stop other programs first. platen bench "
            "KIND --help shows the options of one.\n\n",
        .options = {HelpOption("Options")}};
    for (const Command& kind : BenchKinds()) {
      made.description += fmt::format("  {:<8} {}\n", kind.name, kind.summary);
      made.argument.choices.push_back(kind.name);
    }
    return made;
  }();
  return spec;
}

int RunBenchCommand(const Words& words) {
  const std::string wanted = words.empty() ? "" : words[0];
  if (wanted == "--help" || wanted == "-h") {
    PrintHelp(BenchCommand());
    return kExitDone;
  }
  const std::vector<Command>& kinds = BenchKinds();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(), [&](const Command& k) { return wanted == k.name; });
  if (kind == kinds.end()) {
    const std::string nearest = NearestName(wanted, BenchCommand().argument.choices);
    throw Error(ErrorKind::kUsage, {"", "bench"},
                "say first what to measure: kernels, model, decode, pages or layout" +
                    (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
  return kind->run(Words(words.begin() + 1, words.end()));
}

}  // namespace platen
