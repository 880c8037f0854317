// Checks JSON against a JSON Schema: the keywords that docs/schema uses, and no others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace platen::testing {

// What is wrong with `value`, each with its place; empty: nothing. Throws std::runtime_error for a
// keyword it does not know.
std::vector<std::string> SchemaErrors(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace platen::testing
