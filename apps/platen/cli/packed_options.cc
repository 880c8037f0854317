#include "apps/platen/cli/packed_options.h"

#include <cstdlib>
#include <filesystem>

#include "apps/platen/cli/log.h"
#include "apps/platen/cli/model_options.h"
#include "model/kernels/gemm_schedule.h"
#include "model/support/hash.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

// $XDG_CACHE_HOME/platen or ~/.cache/platen; empty if neither variable is an absolute path.
std::string UserCacheFolder() {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
  };
  if (const fs::path cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "platen";
  if (const fs::path home = absolute("HOME"); !home.empty()) return home / ".cache/platen";
  return "";
}

// A name for the snapshot in a folder that holds the packed weights of many.
std::string NameElsewhere(const std::string& model_dir) {
  std::error_code error;
  fs::path folder = fs::canonical(model_dir, error);
  if (error) folder = model_dir;
  return folder.filename().string() + "-" + HashHex(folder.string()).substr(0, 12);
}

}  // namespace

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
          .environment = "PLATEN_PACKED",
          .changes_results = OptionSpec::kNo};
}

OptionSpec PackedDirOption(const std::string& group) {
  return {.name = "packed-dir",
          .value_name = "DIR",
          .group = group,
          .help =
              "Folder of the packed weights. Without it: the snapshot's folder, or "
              "$XDG_CACHE_HOME/platen (~/.cache/platen) where that cannot be written to.",
          .environment = "PLATEN_PACKED_DIR",
          .changes_results = OptionSpec::kNo};
}

std::vector<std::string> PackedPaths(const Settings& settings, const std::string& model_dir,
                                     Precision precision) {
  const std::string suffix = std::string(".") + PrecisionName(precision) + ".packed";
  const std::string elsewhere = NameElsewhere(model_dir) + suffix;
  if (const std::string& given = settings.Text("packed-dir"); !given.empty()) {
    return {(fs::path(given) / elsewhere).string()};
  }
  std::vector<std::string> paths = {(fs::path(model_dir) / ("model" + suffix)).string()};
  if (const std::string cache = UserCacheFolder(); !cache.empty()) {
    paths.push_back((fs::path(cache) / elsewhere).string());
  }
  return paths;
}

PackingOptions PackingFrom(const Settings& settings, const std::string& model_dir,
                           Precision precision) {
  using Use = PackingOptions::Use;
  PackingOptions options;
  const std::string& when = settings.Text("packed");
  options.use = when == "never" ? Use::kNever : when == "always" ? Use::kAlways : Use::kAuto;
  options.paths = PackedPaths(settings, model_dir, precision);
  options.inform = [](const std::string& text) { Log(LogLevel::kInfo, text); };
  options.warn = [](const std::string& text) { Log(LogLevel::kWarning, text); };
  return options;
}

std::unique_ptr<Model> LoadModelFrom(const Settings& settings, const std::string& model_dir) {
  const Precision precision = PrecisionFrom(settings);
  return std::make_unique<Model>(std::make_unique<Snapshot>(LoadSnapshot(model_dir)),
                                 WithFastestSchedule(KernelsFrom(settings)), precision,
                                 PackingFrom(settings, model_dir, precision),
                                 VisionAttentionFrom(settings));
}

}  // namespace platen
