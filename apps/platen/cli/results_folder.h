// The argument of commands that work on what platen ocr has written.
#pragma once

#include <string>

#include "apps/platen/cli/settings.h"

namespace platen {

// The folder that the only word names. Throws Error(kUsage) if there is no or more than one word,
// or no run of platen ocr has written to the folder.
std::string ResultsFolder(const Settings& settings, const std::string& command);

}  // namespace platen
