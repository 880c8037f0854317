#include "apps/platen/cli/locate.h"

#include <filesystem>

#include "model/hub/hub_cache.h"
#include "model/support/error.h"

namespace platen {

namespace fs = std::filesystem;

std::string ExecutableFolder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::string BundledModel() {
  std::error_code ignored;
  const fs::path folder = fs::path(ExecutableFolder()).parent_path() / "share/platen/platen-mini";
  return fs::exists(folder / "config.json", ignored) ? folder.string() : "";
}

std::string LocateModel(const std::string& given) {
  if (!given.empty()) return ResolveModelFolder(given);
  const std::string bundled = BundledModel();
  if (bundled.empty()) {
    throw Error(ErrorKind::kModel, {"", "model"},
                "no --model given, PLATEN_MODEL is not set, and the bundled model is not in "
                "../share/platen beside the program");
  }
  return bundled;
}

}  // namespace platen
