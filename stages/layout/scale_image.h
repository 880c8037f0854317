// Pictures in another size.
#pragma once

#include "model/support/image.h"

namespace platen {

// The image with its sides times `factor`, at least one pixel each.
Image ScaleImage(const Image& image, double factor);

}  // namespace platen
