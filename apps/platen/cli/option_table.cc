#include "apps/platen/cli/option_table.h"

#include <algorithm>

namespace platen {

std::string ConfigKey(const std::string& option_name) {
  std::string key = option_name;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

}  // namespace platen
