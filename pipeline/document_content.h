// What an input is, by its content: the same for a copy, a moved or a touched file.
#pragma once

#include <string>

#include "model/support/mapped_file.h"

namespace platen {

// Options may concern one kind alone.
enum class InputKind { kImage, kPdf };

const char* InputKindName(InputKind kind);  // "image", "pdf"

// As StampOf, but for the device: network file systems change its number with every mount. As long
// as nothing of it changes, the content is the same. Throws Error(kInput) if there is no such file.
FileStamp InputStamp(const std::string& path);

struct DocumentContent {
  std::string sha256;
  InputKind kind = InputKind::kImage;
};

// Reads the whole file; `patience_s` as for InputFile. Throws Error(kInput) if it cannot be read,
// or changes meanwhile.
DocumentContent ReadContent(const std::string& path, double patience_s);

}  // namespace platen
