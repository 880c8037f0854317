// Run configurations: JSON objects of option values, with // comments (configs/*.json).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace platen {

// A value as it would stand on the command line: numbers and booleans as text, a list's strings.
struct ConfigValue {
  std::vector<std::string> items;
  bool is_list = false;
};

// Throws Error(kUsage) naming file, key and offset for anything else: not
// an object, nested objects, null, a key twice, trailing text.
std::vector<std::pair<std::string, ConfigValue>> ReadConfigFile(const std::string& path);

}  // namespace platen
