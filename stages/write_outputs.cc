#include "stages/write_outputs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "stages/formats/document_writer.h"
#include "stages/kinds/running_heads.h"

namespace platen {
namespace {

// The output files of one document.
class OutputFiles {
 public:
  OutputFiles(const Folder& root, const std::string& stem, const Folder& temporary,
              FileBatch& batch)
      : folder_(std::make_shared<const Folder>(
            root.Below(SplitPath(stem).first, Folder::Missing::kCreate))),
        base_(SplitPath(stem).second),
        temporary_(temporary),
        batch_(batch) {}

  // A file of what `write` appends to it. What it returns is the file's note.
  template <typename Write>
  void Add(const std::string& suffix, const Write& write) {
    const std::string name = base_ + "." + suffix;
    AtomicFile file(temporary_, batch_.NextTemporaryName(suffix), *folder_, name);
    std::string note = write(file);
    written_.push_back({folder_->PathOf(name), file.bytes_appended(), suffix, std::move(note)});
    batch_.Add(std::move(file), folder_);
  }

  std::vector<WrittenFile> Take() { return std::move(written_); }

 private:
  const std::shared_ptr<const Folder> folder_;
  const std::string base_;
  const Folder& temporary_;
  FileBatch& batch_;
  std::vector<WrittenFile> written_;
};

// The pages as outputs show them: URLs of pictures from the outputs' folder, running heads marked.
class ShownPages {
 public:
  ShownPages(const DocumentPages& pages, const std::string& stem) : pages_(pages) {
    for (const char c : stem) up_ += c == '/' ? "../" : "";
    for (int i = 0; pages.count > 1 && i < pages.count; ++i) heads_.Look(pages.page(i));
  }

  PageResult Get(int index) const {
    PageResult page = pages_.page(index);
    for (RegionResult& region : page.regions) {
      if (!region.image.empty()) region.image = up_ + region.image;
    }
    heads_.Mark(index, page);
    return page;
  }

 private:
  const DocumentPages& pages_;
  std::string up_;  // from the outputs' folder to the root
  RunningHeads heads_;
};

}  // namespace

std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary, const RenderOptions& render,
                                       FileBatch& batch) {
  OutputFiles files(root, stem, temporary, batch);
  const ShownPages shown(pages, stem);
  const int of_pages = std::max(pages.count, pages.of_pages);
  for (const std::string& format : formats) {
    const std::unique_ptr<DocumentWriter> writer = MakeDocumentWriter(format, render, pages.images);
    if (NamingOf(format).per_page) {
      for (int i = 0; i < pages.count; ++i) {
        const PageResult page = shown.Get(i);
        files.Add(OutputSuffix(format, page.page, of_pages), [&](AtomicFile& file) {
          file.Append(writer->Begin(info));
          file.Append(writer->Page(page));
          file.Append(writer->End());
          return "";
        });
      }
      continue;
    }
    files.Add(OutputSuffix(format, 0, of_pages), [&](AtomicFile& file) -> std::string {
      const bool over = GoesOverFile(format) && pages.images.over_file;
      if (over) {
        const auto note = pages.images.over_file(
            [&](const auto& each) {
              for (int i = 0; i < pages.count; ++i) each(shown.Get(i));
            },
            [&](std::string_view bytes) { file.Append(bytes); });
        if (note) return *note;
      }
      file.Append(writer->Begin(info));
      for (int i = 0; i < pages.count; ++i) file.Append(writer->Page(shown.Get(i)));
      file.Append(writer->End());
      return over ? "holds pictures of the pages: qpdf could not write text over this PDF" : "";
    });
  }
  return files.Take();
}

std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary, const RenderOptions& render) {
  FileBatch batch;
  const size_t group = batch.BeginGroup();
  std::vector<WrittenFile> written =
      WriteDocument(root, stem, formats, info, pages, temporary, render, batch);
  batch.Commit();
  if (const auto failure = batch.TakeFailure(group)) throw *failure;
  return written;
}

void WriteFileAtomically(const Folder& folder, const std::string& name, std::string_view bytes,
                         const Folder& temporary) {
  AtomicFile file(temporary, "file", folder, name);
  file.Append(bytes);
  file.Commit();
}

}  // namespace platen
