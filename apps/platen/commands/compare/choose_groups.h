// platen compare --choose-groups: the groups of the int8 weights, from the user's pages.
#pragma once

#include <string>

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/compare/compare_options.h"
#include "apps/platen/commands/compare/page_walk.h"

namespace platen {

// Measures, prints what was found and the "int8" object for platen.json, and writes it if asked to.
// Returns the exit code.
int ChooseGroups(const Settings& settings, const std::string& model, const PageWalk& walk);

}  // namespace platen
