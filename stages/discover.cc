#include "stages/discover.h"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "model/support/error.h"
#include "stages/formats/page_result.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

std::optional<struct stat> Stat(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

FileId IdOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

bool IsPattern(const std::string& name) { return name.find_first_of("*?[") != std::string::npos; }

// "./a//b/../c" -> "a/c"; bytes otherwise unchanged. No trailing slash.
std::string Normalised(const std::string& path) {
  std::string text = fs::path(path).lexically_normal().string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

bool LeavesTheTree(const std::string& normalised) {
  return normalised.starts_with("/") || normalised == ".." || normalised.starts_with("../");
}

std::string Join(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

class Discoverer {
 public:
  explicit Discoverer(const InputSpec& spec) : spec_(spec) {
    if (const auto info = Stat(spec.output_dir)) output_id_ = IdOf(*info);
    if (!spec.input_root.empty()) root_ = Absolute(spec.input_root);
  }

  Discovery Run() {
    for (const std::string& argument : spec_.arguments) {
      // A file of that very name wins over the pattern.
      if (IsPattern(argument) && !Stat(argument)) {
        AddPattern(argument);
      } else {
        AddNamed(argument, OutputBase(argument));
      }
    }
    for (const std::string& name : spec_.listed) AddNamed(name, OutputBase(name));
    return std::move(result_);
  }

 private:
  static std::string Absolute(const std::string& path) {
    return Normalised(fs::absolute(fs::path(path)).string());
  }

  // Where the input `path` is mirrored to, below the output folder. "" is the output folder itself.
  std::string OutputBase(const std::string& path) const {
    if (!root_.empty()) {
      const std::string absolute = Absolute(path);
      if (absolute == root_) return "";
      const std::string prefix = root_ == "/" ? "/" : root_ + "/";
      if (!absolute.starts_with(prefix)) {
        throw Error(ErrorKind::kUsage, {DisplayName(path), "input-root"},
                    "is not below the folder " + DisplayName(spec_.input_root));
      }
      return absolute.substr(prefix.size());
    }
    const std::string normalised = Normalised(path);
    if (normalised == ".") return "";
    if (!LeavesTheTree(normalised)) return normalised;
    return fs::path(Absolute(path)).filename().string();
  }

  void AddNamed(const std::string& path, const std::string& output) {
    const auto info = Stat(path);
    if (!info) {
      AddDocument(path, output, std::strerror(errno));
    } else if (S_ISDIR(info->st_mode)) {
      if (IdOf(*info) == output_id_) {
        throw Error(ErrorKind::kUsage, {DisplayName(path), ""},
                    "is the output folder itself, which is never read");
      }
      output.empty() ? AddFolder(path, output, *info) : AddSubfolder(path, output, *info);
    } else if (S_ISREG(info->st_mode)) {
      AddDocument(path, output, "");
    } else {
      AddDocument(path, output, "not a regular file");
    }
  }

  // A pattern mirrors what it matches below its fixed part: /data/*/x.tif below "data".
  void AddPattern(const std::string& pattern) {
    glob_t matches = {};
    const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &matches);
    std::vector<std::string> names(matches.gl_pathv, matches.gl_pathv + matches.gl_pathc);
    ::globfree(&matches);
    if (status != 0 || names.empty()) {
      AddDocument(pattern, OutputBase(pattern), "no file matches this pattern");
      return;
    }
    std::sort(names.begin(), names.end(), NaturalLess);
    const size_t fixed_end = pattern.rfind('/', pattern.find_first_of("*?["));
    const std::string fixed = fixed_end == std::string::npos ? "." : pattern.substr(0, fixed_end);
    const std::string base = OutputBase(fixed.empty() ? "/" : fixed);
    for (const std::string& name : names) {
      const std::string below = fixed == "." ? name : name.substr(fixed.size() + 1);
      AddNamed(name, Join(base, Normalised(below)));
    }
  }

  // Each folder is read once, however many links lead to it, so links cannot loop.
  void AddFolder(const std::string& path, const std::string& output, const struct stat& info) {
    if (!folders_read_.insert(IdOf(info)).second) return;
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) throw Error(ErrorKind::kInput, {DisplayName(path), ""}, error.message());
    std::sort(names.begin(), names.end(), NaturalLess);
    for (const std::string& name : names) AddEntry(Join(path, name), Join(output, name), name);
  }

  void AddEntry(const std::string& path, const std::string& output, const std::string& name) {
    const auto info = Stat(path);
    if (info && IdOf(*info) == output_id_) return;
    if (name.front() == '.') {
      ++result_.skipped_hidden;
    } else if (info && S_ISDIR(info->st_mode)) {
      AddSubfolder(path, output, *info);
    } else if (!HasInputExtension(name) || (info && !S_ISREG(info->st_mode))) {
      ++result_.skipped_foreign;
    } else {
      AddDocument(path, output, info ? "" : "a link that leads nowhere");
    }
  }

  // A folder that cannot be listed fails as a document: the rest goes on.
  void AddSubfolder(const std::string& path, const std::string& output, const struct stat& info) {
    try {
      AddFolder(path, output, info);
    } catch (const Error& e) {
      AddDocument(path, output, "folder cannot be listed: " + e.reason());
    }
  }

  void AddDocument(const std::string& path, const std::string& output, const std::string& error) {
    if (output == "run" || output.empty() || output.starts_with(".platen/")) {
      throw Error(ErrorKind::kUsage, {DisplayName(path), ""},
                  "its outputs would take the place of run.json or of the ledger");
    }
    const auto [known, is_new] = path_of_output_.emplace(output, path);
    if (is_new) {
      result_.documents.push_back({path, output, error});
    } else if (Absolute(known->second) == Absolute(path)) {
      ++result_.repeated;
    } else {
      throw Error(ErrorKind::kUsage, {DisplayName(path), ""},
                  "would write the same output as " + DisplayName(known->second) +
                      "; --input-root keeps the folders of both");
    }
  }

  const InputSpec& spec_;
  std::optional<FileId> output_id_;
  std::string root_;
  std::set<FileId> folders_read_;
  std::map<std::string, std::string> path_of_output_;
  Discovery result_;
};

}  // namespace

Discovery DiscoverDocuments(const InputSpec& spec) { return Discoverer(spec).Run(); }

}  // namespace platen
