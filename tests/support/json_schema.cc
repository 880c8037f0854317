#include "tests/support/json_schema.h"

#include <algorithm>
#include <regex>
#include <set>
#include <stdexcept>

namespace platen::testing {
namespace {

using nlohmann::json;

const std::set<std::string> kKnown = {
    "$schema",   "$ref",    "$defs",      "title",   "description", "type",
    "required",  "const",   "enum",       "items",   "minItems",    "maxItems",
    "minLength", "pattern", "properties", "minimum", "maximum",     "additionalProperties"};

class Checker {
 public:
  explicit Checker(const json& root) : root_(root) {}

  void Check(const json& schema, const json& value, const std::string& at) {
    for (const auto& [key, unused] : schema.items()) {
      if (!kKnown.contains(key)) throw std::runtime_error("unknown keyword " + key);
    }
    if (schema.contains("$ref")) {
      const std::string name = schema["$ref"].get<std::string>().substr(1);
      Check(root_.at(json::json_pointer(name)), value, at);
    }
    if (schema.contains("type") && !HasOneType(value, schema["type"])) {
      return Fail(at, "is no " + schema["type"].dump());
    }
    if (schema.contains("const") && value != schema["const"]) Fail(at, "has another value");
    if (schema.contains("enum")) {
      const json& values = schema["enum"];
      if (std::find(values.begin(), values.end(), value) == values.end()) Fail(at, "is not listed");
    }
    if (value.is_number()) CheckNumber(schema, value, at);
    if (value.is_string() && value.get<std::string>().size() < schema.value("minLength", 0u)) {
      Fail(at, "is too short");
    }
    if (value.is_string() && schema.contains("pattern") &&
        !std::regex_search(value.get<std::string>(),
                           std::regex(schema["pattern"].get<std::string>()))) {
      Fail(at, "does not match the pattern");
    }
    if (value.is_array()) CheckArray(schema, value, at);
    if (value.is_object()) CheckObject(schema, value, at);
  }

  std::vector<std::string> errors;

 private:
  void Fail(const std::string& at, const std::string& what) { errors.push_back(at + " " + what); }

  static bool HasOneType(const json& value, const json& types) {
    if (types.is_string()) return HasType(value, types.get<std::string>());
    return std::any_of(types.begin(), types.end(),
                       [&](const json& type) { return HasType(value, type.get<std::string>()); });
  }

  static bool HasType(const json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::runtime_error("unknown type " + type);
  }

  void CheckNumber(const json& schema, const json& value, const std::string& at) {
    const auto number = value.get<double>();
    if (schema.contains("minimum") && number < schema["minimum"].get<double>())
      Fail(at, "too small");
    if (schema.contains("maximum") && number > schema["maximum"].get<double>())
      Fail(at, "too large");
  }

  void CheckArray(const json& schema, const json& value, const std::string& at) {
    if (value.size() < schema.value("minItems", 0u)) Fail(at, "has too few items");
    if (schema.contains("maxItems") && value.size() > schema["maxItems"].get<size_t>()) {
      Fail(at, "has too many items");
    }
    if (!schema.contains("items")) return;
    for (size_t i = 0; i < value.size(); ++i) {
      Check(schema["items"], value[i], at + "/" + std::to_string(i));
    }
  }

  void CheckObject(const json& schema, const json& value, const std::string& at) {
    if (schema.contains("required")) {
      for (const json& key : schema["required"]) {
        if (!value.contains(key)) Fail(at, "has no " + key.get<std::string>());
      }
    }
    for (const auto& [key, item] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(key)) {
        Check(schema["properties"][key], item, at + "/" + key);
      } else if (schema.contains("additionalProperties")) {
        const json& rest = schema["additionalProperties"];
        if (rest.is_object()) {
          Check(rest, item, at + "/" + key);
        } else if (!rest.get<bool>()) {
          Fail(at + "/" + key, "is not known");
        }
      }
    }
  }

  const json& root_;
};

}  // namespace

std::vector<std::string> SchemaErrors(const json& schema, const json& value) {
  Checker checker(schema);
  checker.Check(schema, value, "");
  return checker.errors;
}

}  // namespace platen::testing
