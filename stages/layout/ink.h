// Whether there is anything to read on a page on which no text was found.
#pragma once

#include "model/support/image.h"

namespace platen {

// True if the page shows print, writing, a picture or light text on dark ground; a page number
// alone is enough. False for what blank pages show: noise, uneven light, borders of the scanner,
// specks, folds, rulings, punch holes, print that shines through from the other side. Thread-safe.
bool HasInk(const Image& page);

}  // namespace platen
