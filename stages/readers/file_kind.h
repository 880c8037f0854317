// What a file is, told by its first bytes: a document that is read, a known format that is not, or
// something else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace platen {

class InputFile;

enum class DocumentFormat {
  kUnknown,
  kPng,
  kJpeg,
  kTiff,
  kWebp,
  kBmp,
  kPnm,
  kJpeg2000,
  kGif,
  kPdf
};

// "PNG", "JPEG", ...; "unknown".
const char* FormatName(DocumentFormat format);

enum class FileClass {
  kDocument,  // of a format that is read; or of none, with a name that claims an image (see below)
  kKnownUnread,  // an image, document or archive of a format that is not read
  kOther         // text, programs, sound, ...: nothing that could be a page
};

struct FileKind {
  FileClass cls = FileClass::kOther;
  DocumentFormat format = DocumentFormat::kUnknown;  // of a kDocument
  std::string name;                                  // "PNG", "Word document"; empty for kOther
};

// Bytes of a file's start that tell what it is. Fewer may do, but may miss a PDF or an archive.
inline constexpr size_t kFileHeadBytes = 4096;

// `head`: the first bytes of a file. Content decides. The extension of `name` (may be empty) counts
// where content alone does not decide, and for content of no known kind: a file "a.png" that is
// empty or nothing known is a kDocument of kUnknown format named "PNG", since it is more likely a
// damaged scan than something else; DocumentReader::Open says what is wrong with it. Never throws.
FileKind KindOf(std::string_view head, std::string_view name);

// The same of a file, at the cost of one open and one read; a few more for files of old Office
// programs. Throws Error(kInput) if it is not a regular file or cannot be opened or read.
FileKind LookAtFile(const std::string& path);
FileKind LookAtFile(const InputFile& file);

// What the extension of a name claims, in any case of letters: kDocument with its format, or
// kKnownUnread, or kOther.
FileKind KindOfName(std::string_view name);

// Why a file that is no kDocument is not read: "HEIF files are not read. Readable: PNG, ...".
std::string WhyNotRead(const FileKind& kind);

// "Readable: PNG, ...", for messages.
std::string ReadableFormats();

}  // namespace platen
