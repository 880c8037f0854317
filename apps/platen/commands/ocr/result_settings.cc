#include "apps/platen/commands/ocr/result_settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/support/hash.h"

namespace platen {
namespace {

std::vector<const OptionSpec*> ByPlace(const OptionTable& table) {
  std::vector<const OptionSpec*> options;
  for (const OptionSpec& option : table) {
    if (option.changes_results > OptionSpec::kNo) options.push_back(&option);
  }
  std::sort(options.begin(), options.end(), [](const OptionSpec* a, const OptionSpec* b) {
    return a->changes_results < b->changes_results;
  });
  return options;
}

// Whether the value, which has been checked, is a literal of JSON; "+5" and "05" are none.
bool IsLiteral(const OptionSpec& option, const std::string& value) {
  if (option.type == OptionType::kFlag) return true;
  if (option.type != OptionType::kInteger && option.type != OptionType::kNumber) return false;
  return nlohmann::json::accept(value);
}

}  // namespace

ResultSettings ResultSettingsOf(const OptionTable& table, const Settings& settings, InputKind kind,
                                const std::map<std::string, std::string>& resolved) {
  ResultSettings shown = {{"platen", PLATEN_VERSION}};
  for (const OptionSpec* option : ByPlace(table)) {
    if (option->pdf_only && kind != InputKind::kPdf) continue;
    const auto known = resolved.find(option->name);
    const std::string& value =
        known == resolved.end() ? settings.Text(option->name) : known->second;
    const std::string& before =
        option->value_before.empty() ? option->default_value : option->value_before;
    if (option->changes_results > kAlwaysShown && value == before) continue;
    const std::string& name = option->name_in_results;
    shown.push_back({name.empty() ? ConfigKey(option->name) : name, value,
                     IsLiteral(*option, settings.Text(option->name))});
  }
  return shown;
}

std::string RenderingOf(const OptionTable& table, const Settings& settings) {
  std::string rendering;
  for (const OptionSpec& option : table) {
    const bool shown = option.changes_results == OptionSpec::kRendering &&
                       settings.Text(option.name) != option.default_value;
    if (!shown) continue;
    rendering += (rendering.empty() ? "" : " ") + ConfigKey(option.name) + "=";
    rendering += settings.Text(option.name);
  }
  return rendering;
}

std::string FingerprintOf(const ResultSettings& settings) {
  Hasher hasher;
  for (const auto& [name, value, unused] : settings) {
    hasher.Add(name);
    hasher.Add(value);
  }
  return hasher.Hex();
}

}  // namespace platen
