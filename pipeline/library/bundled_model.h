// Where the bundled model of this installation lies.
#pragma once

#include <string>

namespace platen {

// share/platen/platen-mini beside the library's folder or above it; empty if there is none.
std::string BundledModelOfLibrary();

}  // namespace platen
