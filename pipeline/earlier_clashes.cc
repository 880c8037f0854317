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

bool HasContent(const std::string& path, const DocumentRecord& record) {
  bool same = false;
  Attempt([&] { same = ReadContent(path, kUsualPatienceS).sha256 == record.input.content.sha256; });
  return same;
}

// What came on standard input is nowhere any more: it has not moved.
bool CameOnStandardInput(const DocumentRecord& record) {
  return record.name == kStandardInput && record.output == kStandardInputOutput;
}

// Two files that are there, with different contents.
bool AreDifferent(const DocumentRecord& earlier, const std::string& path) {
  if (CameOnStandardInput(earlier)) return !HasContent(path, earlier);
  struct stat before = {}, now = {};
  if (::stat(earlier.source.c_str(), &before) != 0 || ::stat(path.c_str(), &now) != 0) return false;
  if (FileIdOf(before) == FileIdOf(now)) return false;
  return before.st_size != now.st_size || !HasContent(path, earlier);
}

[[noreturn]] void RefuseReplacing(const InputDocument& document, const DocumentRecord& earlier,
                                  const std::string& root) {
  const bool stdin_before = CameOnStandardInput(earlier);
  const std::string outputs = DisplayName(JoinNames(root, document.output)) + ".*";
  std::string advice = "choose another folder for the outputs, or ";
  if (stdin_before || document.name == kStandardInput) {
    advice += "remove " + outputs + " first";
  } else {
    advice += "for both, --input-root " +
              DisplayName(CommonFolder(AbsolutePath(document.path), earlier.source));
  }
  Refuse(DisplayName(document.shown_name()) + ": would replace the outputs of " +
         (stdin_before ? "an earlier standard input" : DisplayName(earlier.source)) + " in " +
         outputs + "; " + advice);
}

void LookForOthersOutputs(const KnownDocuments& known, const InputDocument& document) {
  const DocumentRecord* earlier = known.Find(document.output);
  if (earlier == nullptr || earlier->source.empty() || !document.error.empty()) return;
  const std::string path = AbsolutePath(document.path);
  const bool in_place = path == earlier->source && !CameOnStandardInput(*earlier);
  if (in_place || !known.HoldsSuccess(document) || !AreDifferent(*earlier, path)) return;
  RefuseReplacing(document, *earlier, known.root().path());
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

void LookForPages(const KnownDocuments& known, const DocumentList& documents,
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

void LookForPictures(const KnownDocuments& known, const DocumentList& documents,
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

void RefuseEarlierClashes(const KnownDocuments& known, const DocumentList& documents,
                          const std::string& images) {
  for (const InputDocument& document : documents) LookForOthersOutputs(known, document);
  for (const std::string& format : known.identity().formats) {
    if (NamingOf(format).per_page) LookForPages(known, documents, format);
  }
  if (!images.empty()) LookForPictures(known, documents, images);
}

}  // namespace platen
