// Images as files.
#pragma once

#include <string>

#include "model/support/image.h"

namespace platen {

// Both: gray where no pixel has a colour; the same pixels give the same bytes. `image` is not
// empty. Throw Error(kEnvironment) if there is no memory, or a side is too long for the format.
std::string ToPng(const Image& image);
std::string ToJpeg(const Image& image, int quality);  // 1..100

}  // namespace platen
