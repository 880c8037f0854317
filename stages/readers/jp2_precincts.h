// How finely a JPEG 2000 codestream is cut up, which is what its decoding may cost beside pixels.
// Private to this folder's sources.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "stages/readers/jp2_header.h"

namespace platen {

// The most precincts that a decoder sets up for the image, all components together: by the coding
// styles of the main header and of the headers of tile parts, of which the finest counts for
// everything. Throws Error(kInput) naming `path` if a header is damaged. `codestream`: from its
// first marker on.
int64_t MostPrecincts(const std::string& path, std::span<const uint8_t> codestream,
                      const Jp2Header& header);

}  // namespace platen
