// Help made from option tables.
#pragma once

#include <string>

#include "apps/platen/cli/option_table.h"

namespace platen {

// What a command's help says around its options.
struct CommandHelp {
  std::string usage;       // what it is called with and does; several lines
  std::string after = "";  // behind the options
};

// Usage, options, what comes after; on standard output.
void PrintHelp(const CommandHelp& help, const OptionTable& table);

// Options under the headings of their groups, in the order of the table: name, value, help with
// choices, default and environment variable, wrapped at 100 columns.
std::string OptionHelp(const OptionTable& table);

// Text wrapped at `width` columns, every line after the first indented by `indent` spaces.
std::string Wrapped(const std::string& text, size_t indent, size_t width);

}  // namespace platen
