#include "pipeline/earlier_clashes.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>

#include "model/support/attempt.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "stages/formats/document_writer.h"
#include "stages/inputs/input_names.h"
#include "stages/inputs/output_clashes.h"

namespace platen {
namespace {

[[noreturn]] void Refuse(const std::string& text) { throw Error(ErrorKind::kUsage, {}, text); }

// Two files that are there, with different contents.
bool AreDifferent(const DocumentRecord& earlier, const std::string& path) {
  struct stat before = {}, now = {};
  if (::stat(earlier.source.c_str(), &before) != 0 || ::stat(path.c_str(), &now) != 0) return false;
  if (FileIdOf(before) == FileIdOf(now)) return false;
  if (before.st_size != now.st_size) return true;
  bool same = false;
  Attempt(
      [&] { same = ReadContent(path, kUsualPatienceS).sha256 == earlier.input.content.sha256; });
  return !same;
}

void LookForOthersOutputs(const KnownDocuments& known, const InputDocument& document) {
  const DocumentRecord* earlier = known.Find(document.output);
  if (earlier == nullptr || earlier->source.empty() || !document.error.empty()) return;
  const std::string path = AbsolutePath(document.path);
  if (path == earlier->source || !known.HoldsSuccess(document) || !AreDifferent(*earlier, path)) {
    return;
  }
  Refuse(DisplayName(document.shown_name()) + ": would replace the outputs of " +
         DisplayName(earlier->source) + " in " +
         DisplayName(JoinNames(known.root().path(), document.output)) +
         ".*; choose another folder for the outputs, or, for both, --input-root " +
         DisplayName(CommonFolder(path, earlier->source)));
}

// Of a document called like a page: the one whose page it would be, and the format.
std::optional<std::string> OwnerOf(const std::string& output, const std::string& format) {
  if (!NamingOf(format).per_page) return std::nullopt;
  const auto [folder, name] = SplitPath(output);
  const auto page = ParsePageFileName(name + "." + OutputSuffix(format, 1, 1));
  if (!page) return std::nullopt;
  return JoinNames(folder, page->stem);
}

[[noreturn]] void RefusePages(const std::string& one, const std::string& other,
                              const std::string& format) {
  Refuse(DisplayName(one) + " and " + DisplayName(other) +
         ", which an earlier run has read, may both write the same file; rename one of them, or "
         "leave out the format " +
         format);
}

void LookForPages(const KnownDocuments& known, const std::vector<InputDocument>& documents,
                  const std::string& format) {
  for (const InputDocument& document : documents) {
    const auto owner = OwnerOf(document.output, format);
    if (!owner || known.Find(*owner) == nullptr) continue;
    const std::string suffix =
        document.output.substr(owner->size() + 1) + "." + OutputSuffix(format, 1, 1);
    if (known.PageFiles(*owner).contains(suffix))
      RefusePages(document.shown_name(), *owner, format);
  }
  std::set<std::string> owners;  // of earlier documents that are called like pages
  known.ForEach([&](const DocumentRecord& record) {
    if (!known.PageFiles(record.output).contains(OutputSuffix(format, 1, 1))) return;
    if (const auto owner = OwnerOf(record.output, format)) owners.insert(*owner);
  });
  if (owners.empty()) return;
  for (const InputDocument& document : documents) {
    if (owners.contains(document.output)) {
      RefusePages(document.shown_name(), document.output + ".pNNNN", format);
    }
  }
}

void LookForPictures(const KnownDocuments& known, const std::vector<InputDocument>& documents,
                     const std::string& images) {
  const std::string folder = AbsolutePath(JoinNames(known.root().path(), images));
  const auto look = [&](const std::string& path, const std::string& name) {
    std::string below;
    if (path.empty() || !PathBelow(folder, AbsolutePath(path), below)) return;
    throw Error(ErrorKind::kUsage, {"", "--images"},
                DisplayName(name) + " lies in " + DisplayName(folder) +
                    ", where pictures may replace it; choose another name for the folder");
  };
  for (const InputDocument& document : documents) look(document.path, document.shown_name());
  known.ForEach([&](const DocumentRecord& record) { look(record.source, record.source); });
}

}  // namespace

void RefuseEarlierClashes(const KnownDocuments& known, const std::vector<InputDocument>& documents,
                          const std::string& images) {
  for (const InputDocument& document : documents) LookForOthersOutputs(known, document);
  for (const std::string& format : known.identity().formats) {
    if (NamingOf(format).per_page) LookForPages(known, documents, format);
  }
  if (!images.empty()) LookForPictures(known, documents, images);
}

}  // namespace platen
