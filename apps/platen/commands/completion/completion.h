// What completes platen's words in a shell, made from what commands declare. Names that reach a
// shell's code are quoted.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/commands.h"

namespace platen {

std::string BashCompletion(const std::vector<CommandGroup>& groups);
std::string ZshCompletion(const std::vector<CommandGroup>& groups);
std::string FishCompletion(const std::vector<CommandGroup>& groups);

}  // namespace platen
