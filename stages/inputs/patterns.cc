#include "stages/inputs/patterns.h"

#include <glob.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "model/support/file_call.h"
#include "stages/inputs/discover.h"
#include "stages/inputs/input_names.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWildcards = "*?[";

// What matches, and folders that could not be listed: what they hold is a failure, not nothing.
std::vector<std::string> Glob(const std::string& pattern) {
  const FileCall call(pattern);
  static thread_local std::vector<std::string> unlisted;
  unlisted.clear();
  glob_t matches = {};
  const auto note = [](const char* path, int code) {
    if (code != ENOENT && code != ENOTDIR) unlisted.emplace_back(path);
    return 0;
  };
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, note, &matches);
  std::vector<std::string> names = std::move(unlisted);
  if (status == 0) names.insert(names.end(), matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
  ::globfree(&matches);
  return names;
}

// A pattern that matches this name alone.
std::string Escaped(const std::string& name) {
  std::string pattern;
  for (const char c : name) {
    if (c == '\\' || IsPattern({c})) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// Where ** stands as a whole part of the path; npos: nowhere.
size_t FindAnyDepth(const std::string& pattern) {
  for (size_t at = 0; (at = pattern.find("**", at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || pattern[at - 1] == '/';
    if (begins && (at + 2 == pattern.size() || pattern[at + 2] == '/')) return at;
  }
  return std::string::npos;
}

class Expansion {
 public:
  explicit Expansion(const std::function<bool(const std::string&)>& is_skipped)
      : is_skipped_(is_skipped) {}

  void Add(const std::string& pattern) {
    const size_t at = FindAnyDepth(pattern);
    if (at == std::string::npos) {
      const std::vector<std::string> found = Glob(pattern);
      for (const std::string& name : found) {
        std::error_code unknown;
        if (!is_below_ || !fs::is_directory(name, unknown)) names_.push_back(name);
      }
      return;
    }
    const std::string rest = at + 2 < pattern.size() ? pattern.substr(at + 3) : "";
    // "a/**" is below "a", "/**" below "/" and "**" below the working folder.
    const std::string above = pattern.substr(0, at > 1 ? at - 1 : at);
    const std::vector<std::string> folders =
        above.empty() ? std::vector<std::string>{""} : Glob(above);
    for (const std::string& folder : folders) AddBelow(folder, rest);
  }

  std::vector<std::string> Names() {
    std::sort(names_.begin(), names_.end(), NaturalLess);
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    return std::move(names_);
  }

 private:
  // What `rest` matches in a folder and in all below it; all files if it is empty.
  void AddBelow(const std::string& folder, const std::string& rest) {
    const std::string path = folder.empty() ? "." : folder;
    std::optional<FileCall> call(std::in_place, path);
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    if (type == fs::file_type::none) names_.push_back(path);  // the disk does not say
    if (type != fs::file_type::directory || is_skipped_(path)) return;
    error.clear();
    std::vector<std::string> below;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().filename().string();
      if (name.front() == '.') continue;
      std::error_code unknown;
      const bool is_folder = it->is_directory(unknown);
      const std::string inner = folder.empty() ? name : JoinNames(folder, name);
      if (is_folder && !it->is_symlink(unknown)) below.push_back(inner);
      if (!is_folder && rest.empty()) names_.push_back(inner);
    }
    call.reset();
    if (error) {
      names_.push_back(path);
      return;
    }
    is_below_ = true;
    if (!rest.empty()) Add(folder.empty() ? rest : JoinNames(Escaped(folder), rest));
    for (const std::string& inner : below) AddBelow(inner, rest);
  }

  const std::function<bool(const std::string&)>& is_skipped_;
  std::vector<std::string> names_;
  bool is_below_ = false;  // the pattern has **: what it matches is files
};

}  // namespace

bool IsPattern(const std::string& name) {
  return name.find_first_of(kWildcards) != std::string::npos;
}

std::vector<std::string> ExpandPattern(
    const std::string& pattern, const std::function<bool(const std::string& folder)>& is_skipped) {
  Expansion expansion(is_skipped);
  expansion.Add(pattern);
  return expansion.Names();
}

}  // namespace platen
