#include "apps/platen/cli/results_folder.h"

#include <filesystem>

#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {

std::string ResultsFolder(const Settings& settings, const std::string& command) {
  const auto& words = settings.positional();
  if (words.size() != 1) {
    throw Error(ErrorKind::kUsage, {},
                "name the one folder that platen ocr has written to: platen " + command + " OUT");
  }
  if (words[0].empty()) throw Error(ErrorKind::kUsage, {}, "the name of the folder is empty");
  std::error_code error;
  if (!std::filesystem::is_directory(words[0], error)) {
    throw Error(ErrorKind::kUsage, {DisplayName(words[0]), ""}, "no such folder");
  }
  if (!std::filesystem::exists(words[0] + "/.platen", error)) {
    throw Error(ErrorKind::kUsage, {DisplayName(words[0]), ""},
                "platen ocr has not written here; name the folder given to it with -o");
  }
  return words[0];
}

}  // namespace platen
