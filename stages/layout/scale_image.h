// Pictures in another size.
#pragma once

#include "model/support/image.h"

namespace platen {

// The image with its sides times `factor`, at least one pixel each.
Image ScaleImage(const Image& image, double factor);

// Makes the pixels of a scan square, as those of many faxes are not: the side of lower resolution
// is enlarged, or on a very large image the other one made smaller. The resolutions are then equal.
// Leaves the image as it is where they differ by less than a tenth, are not known, or are so far
// apart that they must be wrong (more than 2.5 times).
void MakePixelsSquare(Image& image, double& dpi_x, double& dpi_y);

}  // namespace platen
