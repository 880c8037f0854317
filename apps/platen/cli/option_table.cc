#include "apps/platen/cli/option_table.h"

#include <algorithm>

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

}  // namespace platen
