#include "apps/platen/cli/command_line.h"

#include "apps/platen/cli/locate.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/option_values.h"

namespace platen {

OptionSpec HelpOption(const std::string& group) {
  return {.name = "help",
          .type = OptionType::kFlag,
          .default_value = "false",
          .group = group,
          .help = "Show this help.",
          .in_config = false,
          .in_environment = false,
          .short_name = 'h',
          .changes_results = OptionSpec::kNo};
}

OptionSpec JsonOption(const std::string& group) {
  return {.name = "json",
          .type = OptionType::kFlag,
          .default_value = "false",
          .group = group,
          .help = "Print everything as one JSON object."};
}

std::optional<Settings> ParseCommand(const CommandSpec& command,
                                     const std::vector<std::string>& words) {
  Settings settings = ParseSettings(command.options, words);
  if (settings.Flag("help")) {
    PrintHelp(command);
    return std::nullopt;
  }
  for (const std::string& notice : settings.notices()) Log(LogLevel::kWarning, notice);
  return settings;
}

void RequireNoArguments(const Settings& settings, const std::string& command) {
  if (settings.positional().empty()) return;
  ThrowUsage(settings.positional()[0], command + " takes no arguments");
}

std::string ModelArgument(const Settings& settings, const std::string& command) {
  const std::vector<std::string>& words = settings.positional();
  if (words.size() > 1) ThrowUsage(command, "takes one MODEL");
  if (!words.empty() && words[0].empty()) ThrowUsage(command, "the name of the model is empty");
  return LocateModel(words.empty() ? "" : words[0]);
}

}  // namespace platen
