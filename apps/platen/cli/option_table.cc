#include "apps/platen/cli/option_table.h"

#include <algorithm>
#include <cassert>
#include <cctype>

namespace platen {

std::string ConfigKey(const std::string& option_name) {
  std::string key = option_name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string OptionName(const std::string& config_key) {
  std::string name = config_key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string EnvironmentName(const std::string& option_name) {
  std::string name = "PLATEN_" + ConfigKey(option_name);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

bool IsCalled(const OptionSpec& option, const std::string& name) {
  const auto& former = option.former_names;
  return option.name == name || std::find(former.begin(), former.end(), name) != former.end();
}

OptionSpec OptionFrom(const OptionTable& table, const std::string& name, const std::string& group) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionSpec& option) { return option.name == name; });
  assert(found != table.end());
  OptionSpec option = *found;
  option.group = group;
  return option;
}

}  // namespace platen
