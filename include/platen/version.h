// The version of the library. CMakeLists.txt takes the project's version from here.
#pragma once

#define PLATEN_VERSION_MAJOR 0
#define PLATEN_VERSION_MINOR 1
#define PLATEN_VERSION_PATCH 0

#include "platen/export.h"

namespace platen {

// Of the library that is loaded: "0.1.0". Before 1.0 a change of the minor number may change the
// interface.
PLATEN_API const char* Version();

}  // namespace platen
