#include "pipeline/document_content.h"

#include <cerrno>
#include <system_error>
#include <vector>

#include "model/support/digest.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "stages/readers/file_kind.h"
#include "stages/readers/input_file.h"

namespace platen {
namespace {

constexpr size_t kChunk = 64 << 10;

}  // namespace

const char* InputKindName(InputKind kind) { return kind == InputKind::kPdf ? "pdf" : "image"; }

FileStamp InputStamp(const std::string& path) {
  std::optional<FileStamp> stamp = StampOf(path);
  if (!stamp) {
    throw Error(ErrorKind::kInput, {DisplayName(path), ""}, std::generic_category().message(errno));
  }
  stamp->device = 0;
  return *stamp;
}

DocumentContent ReadContent(const std::string& path, double patience_s) {
  const FileStamp before = InputStamp(path);
  const InputFile file(path, patience_s);
  DocumentContent content;
  if (LookAtFile(file).format == DocumentFormat::kPdf) content.kind = InputKind::kPdf;
  Digest sha(Digest::Kind::kSha256);
  std::vector<uint8_t> chunk(kChunk);
  uint64_t offset = 0;
  while (const size_t n = file.ReadAt(offset, chunk)) {
    sha.Add({reinterpret_cast<const char*>(chunk.data()), n});
    offset += n;
  }
  content.sha256 = sha.Hex();
  if (InputStamp(path) != before) {
    throw Error(ErrorKind::kInput, {DisplayName(path), ""},
                "changes while it is read; run again when it is complete");
  }
  return content;
}

}  // namespace platen
