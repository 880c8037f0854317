#include "apps/platen/cli/packed_options.h"

#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "model/kernels/gemm_schedule.h"

namespace platen {
OptionSpec PackedOption(const std::string& group) {
  return {.name = "packed",
          .type = OptionType::kChoice,
          .default_value = "auto",
          .value_name = "WHEN",
          .group = group,
          .help =
              "Keep the packed weights in a file, for a quick start. auto keeps int8 weights of "
              "models large enough for it to matter; never neither reads nor writes such a file.",
          .choices = {"auto", "always", "never"},
          .changes_results = OptionSpec::kNo};
}

OptionSpec PackedDirOption(const std::string& group) {
  return {.name = "packed-dir",
          .value_name = "DIR",
          .group = group,
          .help =
              "Folder of the packed weights. Without it: the snapshot's folder, or "
              "$XDG_CACHE_HOME/platen (~/.cache/platen) where that cannot be written to.",
          .changes_results = OptionSpec::kNo};
}

PackingOptions PackingFrom(const Settings& settings, const std::string& model_dir,
                           Precision precision) {
  using Use = PackingOptions::Use;
  PackingOptions options;
  const std::string& when = settings.Text("packed");
  options.use = when == "never" ? Use::kNever : when == "always" ? Use::kAlways : Use::kAuto;
  options.paths = PackedPaths(settings.Text("packed-dir"), model_dir, precision);
  options.inform = [](const std::string& text) { Log(LogLevel::kInfo, text); };
  options.warn = [](const std::string& text) { Log(LogLevel::kWarning, text); };
  return options;
}

DraftWeightsFile DraftHeadFrom(const Settings& settings, const std::string& model_dir) {
  const std::string& named = settings.Text("draft-head");
  if (named == kOwnDraftHead) return {};
  if (!named.empty()) return {named, false};
  return InstalledDraftHead(DraftHeadPaths(settings.Text("packed-dir"), model_dir));
}

Snapshot LoadSnapshotAndWarn(const std::string& model_dir) {
  Snapshot snapshot = LoadSnapshot(model_dir);
  for (const std::string& warning : snapshot.warnings) Log(LogLevel::kWarning, warning);
  return snapshot;
}

std::unique_ptr<Model> LoadModelFrom(const Settings& settings, const std::string& model_dir) {
  const Precision precision = PrecisionFrom(settings);
  return std::make_unique<Model>(std::make_unique<Snapshot>(LoadSnapshotAndWarn(model_dir)),
                                 WithFastestSchedule(KernelsFrom(settings)), precision,
                                 PackingFrom(settings, model_dir, precision),
                                 AttentionNamed(settings.Text("attention"), precision),
                                 DraftHeadFrom(settings, model_dir));
}

}  // namespace platen
