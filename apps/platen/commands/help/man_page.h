// Man pages made from what commands declare. The same declarations give the same bytes: there is no
// date in them.
#pragma once

#include <string>
#include <vector>

#include "apps/platen/commands/commands.h"

namespace platen {

// platen(1): every command with its options.
std::string ManPage(const std::vector<CommandGroup>& groups);

// platen-ocr(1), platen-bench-kernels(1), ...
std::string ManPageOf(const CalledCommand& called);

}  // namespace platen
