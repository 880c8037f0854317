#include "stages/write_outputs.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "model/support/error.h"
#include "stages/formats/document_writer.h"

namespace platen {

AtomicFile::AtomicFile(const Folder& temporary, std::string temporary_name, const Folder& folder,
                       std::string name)
    : temporary_(temporary),
      temporary_name_(std::move(temporary_name)),
      folder_(folder),
      name_(std::move(name)) {
  // A new file, never one that another name leads to as well.
  temporary_.Remove(temporary_name_);
  fd_ = temporary_.OpenFile(temporary_name_, O_WRONLY | O_CREAT | O_EXCL);
}

AtomicFile::~AtomicFile() {
  if (!fd_) return;
  try {
    temporary_.Remove(temporary_name_);
  } catch (const Error&) {  // emptied at the next start
  }
}

void AtomicFile::Append(std::string_view bytes) {
  WriteAll(fd_.get(), bytes, folder_.PathOf(name_));
  bytes_written_ += static_cast<int64_t>(bytes.size());
}

void AtomicFile::Commit() {
  if (::fsync(fd_.get()) != 0) ThrowFileError(folder_.PathOf(name_), "sync", errno);
  temporary_.Rename(temporary_name_, folder_, name_);
  fd_ = UniqueFd();
  folder_.Sync();
}

std::vector<WrittenFile> WriteDocument(const Folder& root, const std::string& stem,
                                       const std::vector<std::string>& formats,
                                       const DocumentInfo& info, const DocumentPages& pages,
                                       const Folder& temporary) {
  const auto [parent, base] = SplitPath(stem);
  const Folder folder = root.Below(parent, Folder::Missing::kCreate);
  std::vector<WrittenFile> written;
  for (const std::string& format : formats) {
    const std::string name = base + "." + format;
    const std::unique_ptr<DocumentWriter> writer = MakeDocumentWriter(format);
    AtomicFile file(temporary, "document." + format, folder, name);
    file.Append(writer->Begin(info));
    for (int i = 0; i < pages.count; ++i) file.Append(writer->Page(pages.page(i)));
    file.Append(writer->End());
    file.Commit();
    written.push_back({folder.PathOf(name), file.bytes_written()});
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
