#include "stages/write_outputs.h"

#include <memory>

#include "stages/formats/document_writer.h"
#include "stages/kinds/running_heads.h"

namespace platen {

std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary, const RenderOptions& render) {
  const auto [parent, base] = SplitPath(stem);
  const Folder folder = root.Below(parent, Folder::Missing::kCreate);
  std::string up;  // from the outputs' folder to the root
  for (const char c : stem) up += c == '/' ? "../" : "";
  RunningHeads heads;
  for (int i = 0; pages.count > 1 && i < pages.count; ++i) heads.Look(pages.page(i));
  std::vector<WrittenFile> written;
  for (const std::string& format : formats) {
    const std::string name = base + "." + format;
    const std::unique_ptr<DocumentWriter> writer = MakeDocumentWriter(format, render);
    AtomicFile file(temporary, "document." + format, folder, name);
    file.Append(writer->Begin(info));
    for (int i = 0; i < pages.count; ++i) {
      PageResult page = pages.page(i);
      for (RegionResult& region : page.regions) {
        if (!region.image.empty()) region.image = up + region.image;
      }
      heads.Mark(i, page);
      file.Append(writer->Page(page));
    }
    file.Append(writer->End());
    file.Commit();
    written.push_back({folder.PathOf(name), file.bytes_appended()});
  }
  return written;
}

void WriteFileAtomically(const Folder& folder, const std::string& name, std::string_view bytes,
                         const Folder& temporary) {
  AtomicFile file(temporary, "file", folder, name);
  file.Append(bytes);
  file.Commit();
}

}  // namespace platen
