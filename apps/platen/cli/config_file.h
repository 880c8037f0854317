// Run configurations: JSON objects of option values, with // comments (configs/*.json).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace platen {

// Keys and values as they would stand on the command line: numbers and booleans as text, lists of
// strings joined by commas. Throws Error(kUsage) naming file, key and offset for anything else: not
// an object, nested objects, null, a key twice, trailing text.
std::vector<std::pair<std::string, std::string>> ReadConfigFile(const std::string& path);

}  // namespace platen
