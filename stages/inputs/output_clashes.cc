#include "stages/inputs/output_clashes.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/folder.h"
#include "stages/formats/document_writer.h"
#include "stages/inputs/input_names.h"

namespace platen {
namespace {

[[noreturn]] void Refuse(const std::string& text) { throw Error(ErrorKind::kUsage, {}, text); }

class ClashSearch {
 public:
  explicit ClashSearch(const PlannedOutputs& planned) : planned_(planned) {}

  void AmongOutputs() const {
    for (const InputDocument& document : planned_.documents) LookForPagesOf(document.output);
    for (const std::string& output : planned_.elsewhere) LookForPagesOf(output);
    std::set<std::string> folders;
    for (const InputDocument& document : planned_.documents) AddFolders(document.output, folders);
    for (const std::string& output : planned_.elsewhere) AddFolders(output, folders);
    for (const std::string& folder : folders) LookForFile(folder);
  }

  void WithInputs() const {
    for (const char* report : {"run.json", "failures.jsonl"}) {
      const std::string* input = InputAt(report);
      if (input == nullptr) continue;
      Refuse(DisplayName(*input) +
             ": would be replaced by the report of this run; choose another " +
             "folder for the outputs");
    }
    for (const InputDocument& document : planned_.documents) {
      for (const std::string& format : planned_.formats) {
        LookForInput(document, OutputSuffix(format, 1, 1));
      }
    }
    for (const auto& [id, path] : planned_.inputs) LookForItsDocument(LastName(path));
  }

 private:
  // The document whose page the file would be.
  std::optional<InputDocument> OwnerOfPage(const std::string& file) const {
    const auto [folder, name] = SplitPath(file);
    const std::optional<PageFileName> page = ParsePageFileName(name);
    return page && Wants(page->format) ? Find(JoinNames(folder, page->stem)) : std::nullopt;
  }

  // The document with these outputs. Few runs ask.
  std::optional<InputDocument> Find(const std::string& output) const {
    if (documents_.empty()) {
      for (size_t i = 0; i < planned_.documents.size(); ++i) {
        documents_.emplace(planned_.documents[i].output, i);
      }
    }
    const auto found = documents_.find(output);
    if (found == documents_.end()) return std::nullopt;
    return planned_.documents[found->second];
  }

  bool Wants(const std::string& format) const {
    return std::find(planned_.formats.begin(), planned_.formats.end(), format) !=
           planned_.formats.end();
  }

  // The document called `output` has one page, or has files of its pages called p0007.p0001.
  void LookForPagesOf(const std::string& output) const {
    for (const std::string& format : planned_.formats) {
      if (!NamingOf(format).per_page) continue;
      const std::string file = output + "." + OutputSuffix(format, 1, 1);
      const auto owner = OwnerOfPage(file);
      if (!owner) continue;
      const auto other = Find(output);
      Refuse(DisplayName(owner->shown_name()) + " and " +
             DisplayName(other ? other->shown_name() : output) + " may both write " +
             DisplayName(JoinNames(planned_.output_dir, file)) +
             "; rename one of them, or leave out the format " + format);
    }
  }

  static void AddFolders(const std::string& output, std::set<std::string>& folders) {
    for (size_t slash = output.rfind('/'); slash != std::string::npos && slash > 0;
         slash = output.rfind('/', slash - 1)) {
      if (!folders.insert(output.substr(0, slash)).second) return;
    }
  }

  // A document that would write a file called as the folder is.
  void LookForFile(const std::string& folder) const {
    auto owner = OwnerOfPage(folder);
    for (size_t i = 0; !owner && i < planned_.formats.size(); ++i) {
      const std::string ending = "." + OutputSuffix(planned_.formats[i], 1, 1);
      if (!folder.ends_with(ending)) continue;
      owner = Find(folder.substr(0, folder.size() - ending.size()));
    }
    if (!owner) return;
    Refuse(DisplayName(owner->shown_name()) + ": would write the file " +
           DisplayName(JoinNames(planned_.output_dir, folder)) +
           ", which must be a folder for outputs of other inputs; rename one of them, or read them "
           "into different folders");
  }

  // Null: no such file, or none that is read.
  const std::string* InputAt(const std::string& output) const {
    struct stat info = {};
    if (::stat(JoinNames(planned_.output_dir, output).c_str(), &info) != 0) return nullptr;
    const auto found = planned_.inputs.find(FileIdOf(info));
    return found == planned_.inputs.end() ? nullptr : &found->second;
  }

  void LookForInput(const InputDocument& document, const std::string& suffix) const {
    const std::string* input = InputAt(document.output + "." + suffix);
    if (input == nullptr) return;
    throw Error(ErrorKind::kUsage, {DisplayName(*input), ""},
                "would be replaced by the output of " + DisplayName(document.shown_name()) +
                    "; choose another folder for the outputs");
  }

  // Of an input that is called like the file of a page: the documents that may write that file.
  void LookForItsDocument(const std::string& input) const {
    const std::optional<PageFileName> page = ParsePageFileName(input);
    if (!page || !Wants(page->format)) return;
    for (const InputDocument& document : planned_.documents) {
      if (SplitPath(document.output).second != page->stem) continue;
      LookForInput(document, input.substr(page->stem.size() + 1));
    }
  }

  const PlannedOutputs& planned_;
  mutable std::map<std::string, size_t> documents_;  // by output; see Find
};

}  // namespace

FileId FileIdOf(const struct stat& info) { return {info.st_dev, info.st_ino}; }

bool LooksLikeAPageOf(const std::string& output, const std::vector<std::string>& formats) {
  return std::any_of(formats.begin(), formats.end(), [&](const std::string& format) {
    return NamingOf(format).per_page &&
           ParsePageFileName(SplitPath(output).second + "." + OutputSuffix(format, 1, 1));
  });
}

void RefuseClashes(const PlannedOutputs& planned) {
  const ClashSearch search(planned);
  search.AmongOutputs();
  struct stat info = {};
  if (::stat(planned.output_dir.c_str(), &info) == 0) search.WithInputs();
}

}  // namespace platen
