// platen pack: packs a model's weights once, for quick starts.

#include <fmt/format.h>

#include <optional>

#include "apps/platen/cli/command_line.h"
#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "apps/platen/cli/packed_options.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "model/checkpoint/packed_weights.h"
#include "model/families/packing_plan.h"
#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen {
namespace {

const OptionTable& PackOptions() {
  using Type = OptionType;
  static const OptionTable table = {
      {.name = "verify",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Read a file that is there from end to end; pack anew if it is damaged."},
      {.name = "force",
       .type = Type::kFlag,
       .default_value = "false",
       .group = "Options",
       .help = "Pack anew even if the file is current."},
      PackedDirOption("Options"),
      PrecisionOption("Options"),
      ThreadsOption("Options"),
      HelpOption("Options"),
  };
  return table;
}

// The first of the paths with a current, undamaged file.
std::optional<std::string> FindCurrent(const PackingOptions& packing, const PackedSubject& subject,
                                       bool verify) {
  for (const std::string& path : packing.paths) {
    const PackedState state = StateOfPacked(path, subject);
    if (state.kind == PackedState::Kind::kStale || state.kind == PackedState::Kind::kDamaged) {
      Log(LogLevel::kInfo, path + ": not usable: " + state.reason);
    }
    if (state.kind != PackedState::Kind::kCurrent) continue;
    try {
      if (verify) VerifyPacked(path);
      return path;
    } catch (const Error& e) {
      Log(LogLevel::kWarning, e.what());
    }
  }
  return std::nullopt;
}

// Writes to the first of the paths that can be written to.
std::string WriteAnywhere(const PackingOptions& packing, const PackedSubject& subject) {
  for (size_t i = 0;; ++i) {
    try {
      WritePacked(packing.paths[i], subject, packing, /*replace=*/true);
      return packing.paths[i];
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kModel || i + 1 == packing.paths.size()) throw;
      Log(LogLevel::kInfo, e.what());
    }
  }
}

void PrintResult(const std::string& path, const PackedSubject& subject, const std::string& what) {
  const PackedState state = StateOfPacked(path, subject);
  fmt::print(
      "packed weights  {}\nprecision       {}\nsize            {:.1f} MiB\ndraft head      {}\n"
      "state           {}\n",
      path, PrecisionName(subject.precision), static_cast<double>(state.bytes) / (1 << 20),
      state.draft_head.empty() ? "the model's own" : state.draft_head, what);
}

}  // namespace

const CommandSpec& PackCommand() {
  static const CommandSpec spec = {
      .synopsis = {"platen pack [MODEL] [options]"},
      .description =
          "Brings a snapshot's weights into the form the kernels read and keeps them in a file "
          "beside the snapshot, or in the user's cache folder. Later starts read that file "
          "instead of packing again. The first run with a large model does the same by itself. "
          "Draft weights that platen tune-mtp install has installed are packed with it. "
          "Without MODEL: the bundled model.\n",
      .options = PackOptions(),
      .argument = {.kind = Argument::Kind::kFolder}};
  return spec;
}

int RunPackCommand(const Words& words) {
  const auto settings = ParseCommand(PackCommand(), words);
  if (!settings) return kExitDone;
  const std::string model = ModelArgument(*settings, "pack");
  LimitThreads(ThreadsFrom(*settings));
  const Snapshot snapshot = LoadSnapshotAndWarn(model);
  const Precision precision = PrecisionFrom(*settings);
  const std::string& packed_dir = settings->Text("packed-dir");
  PackingOptions packing;
  packing.paths = PackedPaths(packed_dir, snapshot.dir, precision);
  packing.inform = [](const std::string& text) { Log(LogLevel::kInfo, text); };
  packing.warn = [](const std::string& text) { Log(LogLevel::kWarning, text); };
  const PackingPlan plan(snapshot, precision,
                         InstalledDraftHead(DraftHeadPaths(packed_dir, snapshot.dir)), packing);
  const PackedSubject subject = plan.subject();
  if (!settings->Flag("force")) {
    const bool verify = settings->Flag("verify");
    if (const auto path = FindCurrent(packing, subject, verify)) {
      PrintResult(*path, subject, verify ? "current, checked" : "current");
      return kExitDone;
    }
  }
  const int64_t start_ns = MonotonicNs();
  const std::string path = WriteAnywhere(packing, subject);
  const double seconds = SecondsSince(start_ns);
  PrintResult(path, subject, fmt::format("packed in {:.1f} s", seconds));
  return kExitDone;
}

}  // namespace platen
