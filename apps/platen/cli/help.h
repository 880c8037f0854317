// Help made from what commands declare.
#pragma once

#include <string>

#include "apps/platen/cli/command_spec.h"
#include "apps/platen/cli/option_table.h"

namespace platen {

// How a command is called, what it does, options, variables and exit codes; on standard output.
void PrintHelp(const CommandSpec& command);

// Options under the headings of their groups, in the order of the table: name, value, help with
// choices and default, wrapped at 100 columns.
std::string OptionHelp(const OptionTable& table);

// What an option does, its choices and its default.
std::string OptionText(const OptionSpec& option);

// Text wrapped at `width` columns, every line after the first indented by `indent` spaces.
std::string Wrapped(const std::string& text, size_t indent, size_t width);

// "0 done; 1 something failed".
std::string MeaningsInALine(const std::vector<Meaning>& meanings);

}  // namespace platen
