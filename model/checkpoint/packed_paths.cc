#include "model/checkpoint/packed_paths.h"

#include <cstdlib>
#include <filesystem>

#include "model/hub/hub_cache.h"
#include "model/support/hash.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

// The program's folder below $VARIABLE or ~/BELOW_HOME; empty if neither is an absolute path.
std::string UserFolder(const char* variable, const char* below_home) {
  const auto absolute = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? fs::path(value) : fs::path();
  };
  if (const fs::path folder = absolute(variable); !folder.empty()) return folder / "platen";
  if (const fs::path home = absolute("HOME"); !home.empty()) return home / below_home / "platen";
  return "";
}

// A name for the snapshot in a folder that holds the packed weights of many.
std::string NameElsewhere(const std::string& model_dir) {
  std::error_code error;
  fs::path folder = fs::canonical(model_dir, error);
  if (error) folder = model_dir;
  return folder.filename().string() + "-" + HashHex(folder.string()).substr(0, 12);
}

std::vector<std::string> BesideModel(const std::string& ending, const std::string& model_dir) {
  if (LiesInHubCache(model_dir)) return {};
  return {(fs::path(model_dir) / ("model" + ending)).string()};
}

}  // namespace

std::vector<std::string> PackedPaths(const std::string& packed_dir, const std::string& model_dir,
                                     Precision precision) {
  const std::string ending = std::string(".") + PrecisionName(precision) + ".packed";
  const std::string elsewhere = NameElsewhere(model_dir) + ending;
  if (!packed_dir.empty()) return {(fs::path(packed_dir) / elsewhere).string()};
  std::vector<std::string> paths = BesideModel(ending, model_dir);
  if (const std::string cache = UserFolder("XDG_CACHE_HOME", ".cache"); !cache.empty()) {
    paths.push_back((fs::path(cache) / elsewhere).string());
  }
  return paths;
}

std::vector<std::string> DraftHeadPaths(const std::string& packed_dir,
                                        const std::string& model_dir) {
  const std::string ending = ".draft-head.safetensors";
  const std::string elsewhere = NameElsewhere(model_dir) + ending;
  if (!packed_dir.empty()) return {(fs::path(packed_dir) / elsewhere).string()};
  std::vector<std::string> paths = BesideModel(ending, model_dir);
  if (const std::string data = UserFolder("XDG_DATA_HOME", ".local/share"); !data.empty()) {
    paths.insert(paths.begin(), (fs::path(data) / elsewhere).string());
  }
  return paths;
}

}  // namespace platen
