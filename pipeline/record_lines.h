// Files of one record a line, which anybody may have written.
#pragma once

#include <functional>
#include <string>

#include "model/support/folder.h"

namespace platen {

// Calls visit with every line of the file that is no longer than 8 MiB; nothing if there is no such
// file. A last line without an end was cut short by a crash and is a line like any other. Throws
// Error if the file cannot be read, is no regular file, or is larger than any that runs write.
void ForEachLineOf(const Folder& folder, const std::string& name,
                   const std::function<void(const std::string&)>& visit);

}  // namespace platen
