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

// `given` if not empty, else the bundled model. Throws Error(kModel) if there is none.
std::string LocateModel(const std::string& given);

}  // namespace platen
