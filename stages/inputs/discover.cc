#include "stages/inputs/discover.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/file_call.h"
#include "stages/inputs/input_names.h"
#include "stages/inputs/output_clashes.h"
#include "stages/inputs/patterns.h"
#include "stages/readers/file_kind.h"
#include "stages/readers/input_file.h"

namespace platen {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> Stat(const std::string& path) {
  const FileCall call(path);
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

std::vector<std::string> NamesIn(const std::string& path, std::error_code& error) {
  const FileCall call(path);
  std::vector<std::string> names;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  return names;
}

// Nothing can be there, or it is not for us. Any other error is the disk's, and may pass.
bool IsAboutTheName(int code) {
  return code == ENOENT || code == ENOTDIR || code == EACCES || code == ELOOP ||
         code == ENAMETOOLONG;
}

// A run has written there.
bool HoldsResults(const std::string& folder) {
  const auto info = Stat(JoinNames(folder, ".platen"));
  return info && S_ISDIR(info->st_mode);
}

// One name on its way through the walk.
struct Place {
  std::string path;      // to open
  std::string absolute;  // AbsolutePath
  std::string output;    // below the output folder
  std::string shown;     // in messages; empty: the path

  Place Below(const std::string& name) const {
    return {JoinNames(path, name), JoinNames(absolute, name), JoinNames(output, name), ""};
  }
};

std::string WhyNotThere(const std::string& path, int code) {
  if (code != ENOENT) return std::strerror(code);
  if (path.find("://") != std::string::npos) return "an address; platen reads files: download it";
  return "no such file or folder";
}

// A path that leads from a folder to a place in it, without detours.
bool IsBelow(const std::string& path) {
  return !path.empty() && path != "." && path.front() != '/' && path == Normalised(path) &&
         path != ".." && !path.starts_with("../");
}

class Discoverer {
 public:
  explicit Discoverer(const InputSpec& spec) : spec_(spec) {
    if (const auto info = Stat(spec.output_dir)) {
      output_id_ = FileIdOf(*info);
    } else if (!IsAboutTheName(errno)) {
      // It could not be told from an input.
      throw Error(ErrorKind::kEnvironment, {DisplayName(spec.output_dir), ""},
                  std::strerror(errno));
    }
    if (!spec.input_root.empty()) root_ = AbsolutePath(spec.input_root);
  }

  Discovery Run() {
    if (!spec_.standard_input.empty()) AddStandardInput();
    for (const std::string& argument : spec_.arguments) {
      if (argument.empty()) throw Error(ErrorKind::kUsage, {}, "the name of an input is empty");
      // A file of that very name wins over the pattern.
      if (IsPattern(argument) && !Stat(argument)) {
        AddPattern(argument);
      } else {
        AddArgument(PlaceOf(argument));
      }
    }
    if (!unusable_.empty()) ThrowUnusable();
    for (const ListedInput& input : spec_.listed) AddListed(PlaceOf(input.name), input.output);
    RefuseClashes({spec_.output_dir, spec_.formats, result_.documents, elsewhere_, path_of_input_});
    return std::move(result_);
  }

 private:
  Place PlaceOf(const std::string& path) const {
    Place place{path, AbsolutePath(path), "", ""};
    if (root_.empty()) {
      place.output = LastName(path);
    } else if (!PathBelow(root_, place.absolute, place.output)) {
      throw Error(ErrorKind::kUsage, {DisplayName(path), "--input-root"},
                  "is not below the folder " + DisplayName(spec_.input_root));
    }
    return place;
  }

  void AddStandardInput() {
    const std::string& path = spec_.standard_input;
    if (const auto info = Stat(path)) {
      AddFile({path, path, kStandardInputOutput, kStandardInput}, *info);
    }
  }

  void AddArgument(const Place& place) {
    const auto info = Stat(place.path);
    if (!info) {
      const int code = errno;
      disk_fails_ = disk_fails_ || !IsAboutTheName(code);
      unusable_.push_back(DisplayName(place.path) + ": " + WhyNotThere(place.path, code));
    } else if (!S_ISDIR(info->st_mode) && !S_ISREG(info->st_mode)) {
      unusable_.push_back(DisplayName(place.path) + ": neither a file nor a folder");
    } else {
      AddNamed(place, *info);
    }
  }

  // `output`: as an earlier run called it; it is only believed if it stays below the output folder.
  void AddListed(Place place, const std::string& output) {
    if (root_.empty() && IsBelow(output)) place.output = output;
    if (const auto info = Stat(place.path)) {
      AddNamed(place, *info);
      return;
    }
    const int code = errno;
    if (!IsWanted(place)) return;
    ++result_.missing;
    AddDocument(place, nullptr,
                {code == ENOENT ? "no such file" : std::strerror(code),
                 code == ENOENT ? FailureCode::kNotFound : FailureCode::kUnreadable});
  }

  void AddNamed(const Place& place, const struct stat& info) {
    if (!S_ISDIR(info.st_mode)) {
      AddFile(place, info);
      return;
    }
    if (FileIdOf(info) == output_id_) {
      throw Error(ErrorKind::kUsage, {DisplayName(place.path), ""},
                  "input and output are the same folder");
    }
    AddFolder(place, info);
  }

  // Nothing has been read yet: a typing error, or a disk that is not mounted, costs nothing.
  [[noreturn]] void ThrowUnusable() const {
    constexpr size_t kShown = 5;
    std::string text = unusable_.front();
    for (size_t i = 1; i < std::min(unusable_.size(), kShown); ++i) text += "; " + unusable_[i];
    if (unusable_.size() > kShown) {
      text += "; and " + std::to_string(unusable_.size() - kShown) + " more";
    }
    throw Error(disk_fails_ ? ErrorKind::kEnvironment : ErrorKind::kUsage, {}, text);
  }

  // What a pattern matches is mirrored below its fixed part: /data/*/x.tif below "data".
  void AddPattern(const std::string& pattern) {
    const size_t fixed_end = pattern.rfind('/', pattern.find_first_of("*?["));
    std::string fixed = ".";
    if (fixed_end != std::string::npos) fixed = fixed_end == 0 ? "/" : pattern.substr(0, fixed_end);
    const auto named = Stat(fixed);
    const std::vector<std::string> names = ExpandPattern(pattern, [&](const std::string& folder) {
      const auto info = Stat(folder);
      if (!info) return false;
      if (FileIdOf(*info) == output_id_) return true;
      return !(named && FileIdOf(*named) == FileIdOf(*info)) && LeavesOut(folder);
    });
    if (names.empty()) {
      unusable_.push_back(DisplayName(pattern) + ": no file matches this pattern");
      return;
    }
    const size_t skipped = fixed == "." ? 0 : fixed == "/" ? 1 : fixed.size() + 1;
    const Place base = PlaceOf(fixed);
    for (const std::string& name : names) {
      Place place = base.Below(Normalised(name.substr(skipped)));
      place.path = name;
      if (!LeavesOut(name)) AddArgument(place);
    }
  }

  bool LeavesOut(const std::string& folder) {
    if (!HoldsResults(folder)) return false;
    auto& results = result_.results;
    if (std::find(results.begin(), results.end(), folder) == results.end()) {
      results.push_back(folder);
    }
    return true;
  }

  // Each folder is read once, however many links lead to it, so links cannot loop. A folder that
  // cannot be listed fails as a document: the rest goes on.
  void AddFolder(const Place& place, const struct stat& info) {
    const auto [first, is_new] = folders_read_.emplace(FileIdOf(info), place.path);
    if (!is_new) {
      result_.repeated.push_back(DisplayName(place.path) + ": the same folder as " +
                                 DisplayName(first->second));
      return;
    }
    std::error_code error;
    std::vector<std::string> names = NamesIn(place.path, error);
    if (error) {
      if (!IsWanted(place)) return;
      AddDocument(place, nullptr,
                  {"the folder cannot be listed: " + error.message(), FailureCode::kUnreadable});
      return;
    }
    std::sort(names.begin(), names.end(), NaturalLess);
    for (const std::string& name : names) AddEntry(place.Below(name), name);
  }

  void AddEntry(const Place& place, const std::string& name) {
    const auto info = Stat(place.path);
    const int code = errno;
    if (info && FileIdOf(*info) == output_id_) return;
    if (name.front() == '.') {
      result_.hidden.push_back(place.path);
    } else if (!info && (code == ENOENT || code == ELOOP)) {
      AddDeadLink(place, name);
    } else if (!info) {
      AddUnknown(place, code);
    } else if (S_ISDIR(info->st_mode)) {
      if (!LeavesOut(place.path)) AddFolder(place, *info);
    } else if (S_ISREG(info->st_mode)) {
      AddFile(place, *info);
    } else {
      result_.other_files.push_back(place.path);
    }
  }

  // A document, a folder full of them, or neither: it fails as a document, so that nothing is
  // missing in silence.
  void AddUnknown(const Place& place, int code) {
    if (!IsWanted(place)) return;
    AddDocument(
        place, nullptr,
        {std::string("cannot be looked at: ") + std::strerror(code), FailureCode::kUnreadable});
  }

  // What it led to can only be guessed from its name.
  void AddDeadLink(const Place& place, const std::string& name) {
    if (KindOfName(name).cls == FileClass::kOther) {
      result_.other_files.push_back(place.path);
    } else if (IsWanted(place)) {
      AddDocument(place, nullptr, {"broken symbolic link", FailureCode::kNotFound});
    }
  }

  void AddFile(const Place& place, const struct stat& info) {
    if (!IsWanted(place)) {
      path_of_input_.emplace(FileIdOf(info), place.path);  // it must not be replaced either
      if (LooksLikeAPageOf(place.output, spec_.formats)) elsewhere_.insert(place.output);
      return;
    }
    FileKind kind;
    try {
      kind = LookAtFile(InputFile(place.path, spec_.patience_s));
    } catch (const Error& e) {
      AddDocument(place, &info, {e.reason(), e.code()});
      return;
    }
    switch (kind.cls) {
      case FileClass::kDocument:
        AddDocument(place, &info, {});
        return;
      case FileClass::kKnownUnread:
        AddDocument(place, &info, {WhyNotRead(kind), FailureCode::kUnsupported});
        return;
      case FileClass::kOther:
        if (paths_.insert(place.absolute).second) result_.other_files.push_back(place.path);
        return;
    }
  }

  bool IsWanted(const Place& place) {
    const bool wanted = !spec_.wanted || spec_.wanted(place.output);
    if (!wanted) ++result_.unwanted;
    return wanted;
  }

  void AddDocument(const Place& place, const struct stat* info, const Fault& error) {
    if (place.output.empty() || place.output.starts_with(".platen/")) {
      throw Error(ErrorKind::kUsage, {DisplayName(place.path), ""},
                  "its output would stand among platen's own files");
    }
    if (place.output == "run") {
      throw Error(ErrorKind::kUsage, {DisplayName(place.path), ""},
                  "its output would overwrite run.json; rename the input");
    }
    if (!paths_.insert(place.absolute).second) {
      result_.repeated.push_back(DisplayName(place.path) + ": given twice");
      return;
    }
    const auto [known, is_new] = of_output_.emplace(place.output, result_.documents.size());
    if (!is_new) ThrowCollision(place, result_.documents[known->second]);
    if (info != nullptr) path_of_input_.emplace(FileIdOf(*info), place.path);
    result_.documents.Add({place.path, place.output, error, place.shown});
  }

  [[noreturn]] void ThrowCollision(const Place& a, const InputDocument& b) const {
    throw Error(ErrorKind::kUsage, {},
                DisplayName(b.path) + " and " + DisplayName(a.path) + " would both write " +
                    DisplayName(JoinNames(spec_.output_dir, a.output)) + ".*; --input-root " +
                    DisplayName(CommonFolder(a.absolute, AbsolutePath(b.path))) +
                    " keeps them apart");
  }

  const InputSpec& spec_;
  std::optional<FileId> output_id_;
  std::string root_;
  std::vector<std::string> unusable_;
  bool disk_fails_ = false;  // one of them may be there at another try
  std::map<FileId, std::string> folders_read_;
  std::map<FileId, std::string> path_of_input_;
  std::set<std::string> elsewhere_;  // outputs that are not wanted and may be those of a page
  std::set<std::string> paths_;      // absolute, of all files
  std::map<std::string, size_t> of_output_;  // the document with these outputs
  Discovery result_;
};

}  // namespace

Discovery DiscoverDocuments(const InputSpec& spec) { return Discoverer(spec).Run(); }

}  // namespace platen
