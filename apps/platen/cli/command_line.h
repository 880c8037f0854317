// What every command does with its words before its own work.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/platen/cli/command_spec.h"
#include "apps/platen/cli/help.h"
#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"

namespace platen {

// Options of many tables: --help (every one needs it) and --json.
OptionSpec HelpOption(const std::string& group);
OptionSpec JsonOption(const std::string& group);

// The settings of the words after the command's name; former names of options are logged. Nothing
// after --help, which is answered. Throws what ParseSettings throws.
std::optional<Settings> ParseCommand(const CommandSpec& command,
                                     const std::vector<std::string>& words);

// Throws Error(kUsage) if there is a word that belongs to no option.
void RequireNoArguments(const Settings& settings, const std::string& command);

// The folder that the only word names, else the bundled model's. Throws Error(kUsage) if there are
// more words, Error(kModel) if there is no model.
std::string ModelArgument(const Settings& settings, const std::string& command);

}  // namespace platen
