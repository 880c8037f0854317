#include "apps/platen/cli/config_file.h"

#include <nlohmann/json.hpp>
#include <set>

#include "model/support/error.h"
#include "model/support/mapped_file.h"
#include "model/support/text_place.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxConfigBytes = 1 << 20;

ConfigValue ValueOf(const std::string& path, const std::string& key, const Json& value) {
  if (value.is_string()) return {{value.get<std::string>()}, false};
  if (value.is_boolean() || value.is_number()) return {{value.dump()}, false};
  if (value.is_array()) {
    ConfigValue list = {{}, true};
    for (const Json& item : value) {
      if (!item.is_string()) {
        throw Error(ErrorKind::kUsage, {path, key}, "a list may only hold strings");
      }
      list.items.push_back(item.get<std::string>());
    }
    return list;
  }
  throw Error(ErrorKind::kUsage, {path, key},
              "must be a string, a number, true, false or a list of strings");
}

// What the parser found wrong at `at`. Its own words follow "column N: ".
std::string SyntaxReason(const std::string& text, size_t at, const std::string& what) {
  const size_t before = at == 0 ? std::string::npos : text.find_last_not_of(" \t\r\n", at - 1);
  if (at < text.size() && before != std::string::npos && text[before] == ',' &&
      (text[at] == '}' || text[at] == ']')) {
    return std::string("a comma before ") + text[at];
  }
  const size_t column = what.find("column ");
  const size_t colon = column == std::string::npos ? column : what.find(": ", column);
  return colon == std::string::npos ? what : what.substr(colon + 2);
}

// Parses, refusing keys given twice (the library would take the last one).
Json Parse(const std::string& path, const std::string& text) {
  std::set<std::string> keys;
  const auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::key && depth == 1 &&
        !keys.insert(value.get<std::string>()).second) {
      throw Error(ErrorKind::kUsage, {path, value.get<std::string>()}, "given twice");
    }
    return true;
  };
  try {
    return Json::parse(text, check, /*allow_exceptions=*/true, /*ignore_comments=*/true);
  } catch (const nlohmann::json::parse_error& e) {
    const size_t at = e.byte > 0 ? e.byte - 1 : 0;
    throw Error(ErrorKind::kUsage, {.file = path, .field = {}, .place = PlaceOf(text, at)},
                "not JSON: " + SyntaxReason(text, at, e.what()));
  }
}

}  // namespace

std::vector<std::pair<std::string, ConfigValue>> ReadConfigFile(const std::string& path) {
  std::string text;
  try {
    text = ReadSmallFile(path, kMaxConfigBytes);
  } catch (const Error& e) {
    throw Error(ErrorKind::kUsage, e.location(), e.reason());
  }
  const Json json = Parse(path, text);
  if (!json.is_object()) throw Error(ErrorKind::kUsage, {path, ""}, "not a JSON object");
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const auto& [key, value] : json.items()) {
    values.emplace_back(key, ValueOf(path, key, value));
  }
  return values;
}

}  // namespace platen
