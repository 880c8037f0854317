#include "stages/inputs/name_bytes.h"

#include "model/support/hex.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

std::string TextOf(const nlohmann::json& json, const std::string& key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

void AddName(nlohmann::ordered_json& json, const std::string& key, const std::string& name) {
  if (ToValidUtf8(name) == name) {
    json[key] = name;
  } else {
    json[key + "_hex"] = HexOf(name);
  }
}

std::optional<std::string> NameIn(const nlohmann::json& json, const std::string& key) {
  std::string name = TextOf(json, key);
  if (name.empty()) name = BytesOfHex(TextOf(json, key + "_hex")).value_or("");
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  return name;
}

}  // namespace platen
