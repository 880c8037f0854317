// platen bench: what this machine does, as shares of its own peaks.

#include <algorithm>
#include <cstdio>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/commands/bench/bench_options.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {
namespace {

struct Kind {
  const char* name;
  int (*run)(const Words& words);
};
constexpr Kind kKinds[] = {{"kernels", RunBenchKernels},
                           {"model", RunBenchModel},
                           {"decode", RunBenchDecode},
                           {"pages", RunBenchPages},
                           {"layout", RunBenchLayout}};

constexpr char kHelp[] =
    "Usage: platen bench kernels [options]   the inner loops at the shapes of GLM-OCR\n"
    "       platen bench model [options]     the model's passes: vision, prefill, decoding\n"
    "       platen bench decode [options]    decoding with drafts: sequences, drafts, gain\n"
    "       platen bench pages [options]     whole pages of a fixed workload, stage by stage\n"
    "       platen bench layout [options]    pages through a layout model\n\n"
    "Each speed stands beside what this machine can do at most, measured in the same run. One\n"
    "thread unless --threads says otherwise. Stop other programs first.\n"
    "platen bench KIND --help shows the options of one.\n";

}  // namespace

int RunBenchCommand(const Words& words) {
  if (!words.empty() && (words[0] == "--help" || words[0] == "-h")) {
    std::fputs(kHelp, stdout);
    return kExitDone;
  }
  const std::string wanted = words.empty() ? "" : words[0];
  const auto* kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                  [&](const Kind& k) { return wanted == k.name; });
  if (kind == std::end(kKinds)) {
    std::vector<std::string> names;
    for (const Kind& k : kKinds) names.emplace_back(k.name);
    const std::string nearest = NearestName(wanted, names);
    throw Error(ErrorKind::kUsage, {"", "bench"},
                "say first what to measure: kernels, model, decode, pages or layout" +
                    (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  }
  return kind->run(Words(words.begin() + 1, words.end()));
}

}  // namespace platen
