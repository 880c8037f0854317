#include "model/checkpoint/packed_paths.h"

#include <cstdlib>
#include <filesystem>

#include "model/hub/hub_cache.h"
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

std::vector<std::string> PackedPaths(const std::string& packed_dir, const std::string& model_dir,
                                     Precision precision) {
  const std::string suffix = std::string(".") + PrecisionName(precision) + ".packed";
  const std::string elsewhere = NameElsewhere(model_dir) + suffix;
  if (!packed_dir.empty()) return {(fs::path(packed_dir) / elsewhere).string()};
  std::vector<std::string> paths;
  if (!LiesInHubCache(model_dir)) {
    paths.push_back((fs::path(model_dir) / ("model" + suffix)).string());
  }
  if (const std::string cache = UserCacheFolder(); !cache.empty()) {
    paths.push_back((fs::path(cache) / elsewhere).string());
  }
  return paths;
}

}  // namespace platen
