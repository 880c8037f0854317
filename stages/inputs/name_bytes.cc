#include "stages/inputs/name_bytes.h"

#include <charconv>
#include <string_view>

#include "model/support/hash.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

std::string HexOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return hex;
}

// Empty: it is none.
std::string BytesOf(const std::string& hex) {
  if (hex.size() % 2 != 0 || !IsHex(hex, hex.size())) return "";
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

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
  if (name.empty()) name = BytesOf(TextOf(json, key + "_hex"));
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  return name;
}

}  // namespace platen
