// Bicubic resize of 8-bit images in fixed point, equal byte for byte to torch's CPU kernels for
// uint8.
#pragma once

#include "model/support/image.h"

namespace platen {

enum class Bicubic {
  // Keys a = -0.5; where the image shrinks the kernel grows with the distance of the results.
  kAntialiased,
  // a = -0.75, four samples around every result; samples outside repeat the border.
  kFourTaps,
};

// `image` is not empty, `width` and `height` are positive. A horizontal pass, rounded to 8 bits,
// then a vertical one; an axis that keeps its length is not touched.
Image ResizeBicubic(const Image& image, int width, int height,
                    Bicubic kind = Bicubic::kAntialiased);

}  // namespace platen
