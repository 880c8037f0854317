// Names of files in JSON. Names are bytes, JSON has text: one that is no UTF-8 stands as
// hexadecimal digits, under its key with "_hex" behind it. For source files.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace platen {

// json[key] = name, or json[key + "_hex"].
void AddName(nlohmann::ordered_json& json, const std::string& key, const std::string& name);

// What AddName has written; nothing if there is no such name, or none that a file can have (it is
// empty, holds a NUL or its digits are none).
std::optional<std::string> NameIn(const nlohmann::json& json, const std::string& key);

}  // namespace platen
