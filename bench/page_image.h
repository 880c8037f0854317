// A drawn page for measurements: something with the size and the compressibility of a scan.
#pragma once

#include <cstdint>
#include <string>

#include "model/support/image.h"

namespace platen::bench {

// Gray paper with noise and lines of dark word-like strokes. The same seed gives the same pixels.
Image DrawPage(uint64_t seed, int width, int height);

// Writes a gray JPEG of quality 85. Throws Error(kEnvironment) if the file cannot be written.
void WriteJpeg(const Image& image, const std::string& path);

}  // namespace platen::bench
