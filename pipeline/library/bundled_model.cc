#include "pipeline/library/bundled_model.h"

#include <dlfcn.h>

#include <filesystem>

namespace platen {

namespace fs = std::filesystem;

std::string BundledModelOfLibrary() {
  Dl_info library = {};
  if (::dladdr(reinterpret_cast<void*>(&BundledModelOfLibrary), &library) == 0) return "";
  std::error_code error;
  fs::path folder = fs::canonical(library.dli_fname, error).parent_path();
  // lib/ or lib/x86_64-linux-gnu/
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    const fs::path model = folder / "share/platen/platen-mini";
    if (fs::exists(model / "config.json", error)) return model.string();
  }
  return "";
}

}  // namespace platen
