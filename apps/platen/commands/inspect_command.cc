// platen inspect: checks and describes a model snapshot.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/commands/commands.h"
#include "model/checkpoint/packed_paths.h"
#include "model/engine/draft_offsets.h"
#include "model/families/inspect.h"
#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/mapped_file.h"

namespace platen {
namespace {

const OptionTable& InspectOptions() {
  static const OptionTable table = {
      JsonOption("Options"),
      {.name = "drafts",
       .value_name = "FILE",
       .group = "Options",
       .help = "A text of some thousand words, a passage on each line: also finds out which token "
               "each of the model's draft heads really guesses. Those trained one position late "
               "are of no use.",
       .in_config = false},
      PackedDirOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

constexpr size_t kMostTextBytes = size_t{16} << 20;
constexpr int64_t kFewestRows = 1000;
constexpr size_t kMostTokens = 1024;  // of a passage

// The lines of the file as tokens, each cut to kMostTokens.
std::vector<std::vector<TokenId>> PassagesOf(const std::string& path, const Tokenizer& tokenizer) {
  const MappedFile file(path);
  if (file.data().size() > kMostTextBytes) {
    throw Error(ErrorKind::kUsage, {path, ""}, "is longer than 16 MiB");
  }
  const std::string_view text = {reinterpret_cast<const char*>(file.data().data()),
                                 file.data().size()};
  std::vector<std::vector<TokenId>> passages;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<TokenId> tokens = tokenizer.Encode(std::string(text.substr(at, end - at)));
    if (tokens.size() > kMostTokens) tokens.resize(kMostTokens);
    passages.push_back(std::move(tokens));
    at = end + 1;
  }
  return passages;
}

// False: a head is best at another token than the one it is asked for.
bool PrintDraftOffsets(const std::string& dir, const std::string& path) {
  const Model model(std::make_unique<Snapshot>(LoadSnapshot(dir)), BestKernels());
  const std::vector<HeadOffsets> heads =
      ScanDraftOffsets(model, PassagesOf(path, model.tokenizer()));
  bool good = true;
  fmt::print("draft heads, over {} rows\n", Grouped(heads.front().rows));
  for (size_t k = 0; k < heads.size(); ++k) {
    const int best = heads[k].best(), asked = static_cast<int>(k) + 2;
    fmt::print("  head {}  ", k + 1);
    for (size_t j = 0; j < heads[k].right.size(); ++j) {
      const double share = heads[k].rows > 0 ? static_cast<double>(heads[k].right[j]) /
                                                   static_cast<double>(heads[k].rows)
                                             : 0.0;
      fmt::print("{} +{} {:.3f}", j == 0 ? "right about token" : ",", j + 1, share);
    }
    fmt::print("; best at +{}, asked for +{}\n", best, asked);
    good = good && best == asked;
  }
  if (heads.front().rows < kFewestRows) {
    fmt::print("  fewer than {} rows: give a longer text\n", Grouped(kFewestRows));
  } else if (!good) {
    fmt::print(
        "  a head that is best elsewhere was trained with labels moved by the difference: "
        "decode with --drafters ngram\n");
  }
  return good;
}

}  // namespace

const CommandSpec& InspectCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen inspect [MODEL] [--drafts FILE]"},
      .description =
          "Reads a snapshot folder, weights included, checks every part against the others and "
          "describes it. Without MODEL: the bundled model.\n",
      .options = InspectOptions(),
      .exit_codes = {{"1", "a draft head guesses another token than it is asked for"},
                     {"3", "the model cannot be used"}},
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunInspectCommand(const Words& words) {
  const auto settings = ParseCommand(InspectCommand(), words);
  if (!settings) return kExitDone;
  const std::string& drafts = settings->Text("drafts");
  if (!drafts.empty() && settings->Flag("json")) {
    throw Error(ErrorKind::kUsage, {"", "--drafts"}, "is not part of the JSON; leave out --json");
  }
  InspectReport report = InspectSnapshot(ModelArgument(*settings, "inspect"));
  if (report.usable() && report.architecture != nullptr) {
    const std::string& packed_dir = settings->Text("packed-dir");
    std::vector<std::string> packed;
    for (const Precision precision : {Precision::kInt8, Precision::kF32}) {
      const auto paths = PackedPaths(packed_dir, report.dir, precision);
      packed.insert(packed.end(), paths.begin(), paths.end());
    }
    report.draft_head =
        InspectDraftHead(report.dir, packed, DraftHeadPaths(packed_dir, report.dir));
  }
  const std::string text =
      settings->Flag("json") ? InspectReportJson(report) + "\n" : FormatInspectReport(report);
  std::fputs(text.c_str(), stdout);
  if (!report.usable()) return kExitEnvironment;
  if (drafts.empty()) return kExitDone;
  return PrintDraftOffsets(ModelArgument(*settings, "inspect"), drafts) ? kExitDone
                                                                        : kExitSomeFailed;
}

}  // namespace platen
