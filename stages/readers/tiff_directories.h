// The chain of directories of a TIFF or BigTIFF file: where its pages are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stages/readers/document_reader.h"
#include "stages/readers/input_file.h"

namespace platen {

struct TiffDirectory {
  uint64_t offset = 0;
  ImageSize size;  // 0 where the file does not say
};

struct TiffDirectories {
  std::vector<TiffDirectory> pages;  // in file order
  std::string damage;  // a reason why the chain stops before its end; empty if it does not
};

// Follows the chain without decoding anything. Thumbnails and masks are left out, unless the file
// has nothing else. A damaged chain keeps what came before the damage. Throws Error(kInput) if this
// is not a TIFF header or there are more than `max_pages` directories.
TiffDirectories ListTiffDirectories(const InputFile& file, int max_pages);

}  // namespace platen
