// Files that come with the program. The build tree is laid out like an installation: bin/platen and
// share/platen/.
#pragma once

#include <string>

namespace platen {

// Folder of the running executable.
std::string ExecutableFolder();

// The bundled model's snapshot folder, ../share/platen/platen-mini beside the executable. Empty if
// it is not there.
std::string BundledModel();

// The folder of the model that was given: a path, or owner/name[@revision] of one that was
// downloaded; empty: the bundled model. Throws Error(kModel) if there is none.
std::string LocateModel(const std::string& given);

}  // namespace platen
