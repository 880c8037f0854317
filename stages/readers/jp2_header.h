// What a JPEG 2000 file says of itself before its pixels: the codestream's size marker, and the
// boxes of JP2 and JPX around it. Private to this folder's sources.
//
// ISO/IEC 15444-1, annexes A (codestream) and I (JP2).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "stages/readers/container_kind.h"

namespace platen {

// Samples of one component stand at the points of the reference grid that are multiples of the
// steps.
struct Jp2Component {
  int bits = 0;  // 1 to 16
  bool is_signed = false;
  int step_x = 1;
  int step_y = 1;
};

// One sort of value of a pixel: a component, or what a palette makes of it.
struct Jp2Channel {
  int component = 0;
  std::vector<uint8_t> palette;  // by the component's value, as 8 bits; empty: none
};

enum class Jp2Colour { kGray, kRgb, kYcc, kCmyk };

struct Jp2Header {
  // The image on the reference grid: from (x0, y0) to before (x1, y1).
  int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  int64_t num_tiles = 0;
  std::vector<Jp2Component> components;  // 1 to 5
  int step_x = 1, step_y = 1;            // of the finest component; a pixel's

  Jp2Colour colour = Jp2Colour::kGray;
  std::vector<Jp2Channel> channels;  // of the colour, in its order: 1, 3 or 4
  std::vector<Jp2Channel> alpha;     // none, or one

  double dpi_x = 0, dpi_y = 0;    // 0: not said
  uint64_t codestream_begin = 0;  // in the file
  uint64_t codestream_end = 0;    // at most the file's end

  int64_t Width() const { return Samples(x0, x1, step_x); }
  int64_t Height() const { return Samples(y0, y1, step_y); }
  // Multiples of `step` from `begin` to before `end`.
  static int64_t Samples(int64_t begin, int64_t end, int64_t step) {
    return (end + step - 1) / step - (begin + step - 1) / step;
  }
};

// `read`: bytes of a file of `file_bytes`, of which some KiB are asked for. Throws Error(kInput)
// naming `path` if the header is damaged or of a kind that is not read; whether the image's size is
// a sensible one is not checked.
Jp2Header ReadJp2Header(const std::string& path, const ReadBytes& read, uint64_t file_bytes);

}  // namespace platen
