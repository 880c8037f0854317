// Temporary files that leave nothing behind, however the program ends.
#pragma once

#include "model/support/folder.h"

namespace platen {

// A new file without a name in the system's temporary folder (TMPDIR), for reading and writing. Its
// space is free again when the last descriptor is closed. Throws Error(kEnvironment).
UniqueFd OpenNamelessFile();

// The same in this folder, where nobody else makes names of this process's. It has one for a
// moment.
UniqueFd OpenNamelessFile(const Folder& folder);

}  // namespace platen
