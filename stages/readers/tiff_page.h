// One page of a TIFF file.
#pragma once

#include "stages/readers/document_reader.h"
#include "stages/readers/input_file.h"
#include "stages/readers/tiff_directories.h"

namespace platen {

// Decodes the page of a directory. Throws Error(kInput).
PageImage ReadTiffPage(const InputFile& file, const TiffDirectory& directory,
                       const ReadLimits& limits);

}  // namespace platen
