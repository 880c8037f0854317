// Options declared once: parsed, read from configuration files, shown in help and reported from one
// table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace platen {

// kTextList may be given several times; its values are separated by newlines in Setting::value.
enum class OptionType { kFlag, kText, kTextList, kInteger, kNumber, kChoice, kChoiceList };

struct OptionSpec {
  std::string name = "";  // "draft-length"; in configuration files "draft_length"
  OptionType type = OptionType::kText;
  std::string default_value = "";  // as on the command line; flags: "false"
  std::string value_name = "";     // unit or kind, shown in help: "N", "DIR", "MiB"
  std::string group = "";          // heading in help
  std::string help = "";           // one or two sentences
  double min = 0;                  // kInteger, kNumber
  double max = 0;
  std::vector<std::string> choices = {};  // kChoice, kChoiceList
  std::string environment = "";           // variable that overrides configuration and default
  bool in_config = true;                  // may stand in a configuration file
  char short_name = 0;
};

using OptionTable = std::vector<OptionSpec>;

// "draft-length" -> "draft_length", the option's key in configuration files and run.json; and back.
std::string ConfigKey(const std::string& option_name);
std::string OptionName(const std::string& config_key);

}  // namespace platen
