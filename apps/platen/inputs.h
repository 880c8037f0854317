// What the command line names as inputs, shared by the commands that read pages.
#pragma once

#include "apps/platen/settings.h"
#include "stages/discover.h"

namespace platen {

// Throws Error(kUsage) unless something to read was named.
void RequireInputs(const Settings& settings);

// Adds the positional words and the list of --manifest to `spec`; the word - stands for a list on
// standard input. Throws Error(kUsage) if a list cannot be read.
void AddNamedInputs(const Settings& settings, InputSpec& spec);

}  // namespace platen
