// One page of a TIFF file.
#pragma once

#include <cstdint>

#include "stages/readers/document_reader.h"
#include "stages/readers/input_file.h"

namespace platen {

// Decodes the page whose directory is at `directory_offset`. Throws Error(kInput).
PageImage ReadTiffPage(const InputFile& file, uint64_t directory_offset, const ReadLimits& limits);

}  // namespace platen
