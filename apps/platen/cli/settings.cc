#include "apps/platen/cli/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "apps/platen/cli/config_file.h"
#include "apps/platen/cli/option_values.h"
#include "apps/platen/cli/option_words.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {
namespace {

// `former`, `name`: as they are written, "--threads" or "threads".
std::string Notice(const std::string& former, const std::string& name) {
  return fmt::format("{} is called {}; the next release will not know {} any more", former, name,
                     former);
}

// The option that a key of a configuration file means. Throws Error(kUsage) if there is none.
const OptionSpec& OptionOfKey(const OptionTable& table, const std::string& path,
                              const std::string& key) {
  const auto option = std::find_if(table.begin(), table.end(), [&](const OptionSpec& o) {
    return IsCalled(o, OptionName(key)) && key.find('-') == std::string::npos;
  });
  if (option != table.end() && option->in_config) return *option;
  const auto fail = [&](const std::string& reason) {
    throw Error(ErrorKind::kUsage, {path, key}, reason);
  };
  if (option != table.end()) fail("cannot be set in a file; give it on the command line");
  const std::string answer = AnswerTo("--" + OptionName(key));
  if (!answer.empty()) fail(answer);
  std::vector<std::string> keys;
  for (const OptionSpec& o : table) {
    if (o.in_config) keys.push_back(ConfigKey(o.name));
  }
  const std::string nearest = NearestName(key, keys);
  fail(nearest.empty() ? "unknown key" : fmt::format("unknown key; did you mean {}?", nearest));
  return *option;
}

// From the command line or the environment; empty: none.
std::string ConfigPath(const OptionTable& table, const OptionWords& given) {
  const auto word = given.values.find("config");
  if (word != given.values.end()) return word->second;
  const bool known = std::any_of(table.begin(), table.end(),
                                 [](const OptionSpec& option) { return option.name == "config"; });
  const char* value = known ? std::getenv(EnvironmentName("config").c_str()) : nullptr;
  return value == nullptr ? "" : value;
}

}  // namespace

const char* OriginName(SettingOrigin origin) {
  switch (origin) {
    case SettingOrigin::kDefault:
      return "default";
    case SettingOrigin::kConfig:
      return "config";
    case SettingOrigin::kEnvironment:
      return "environment";
    case SettingOrigin::kCommandLine:
      return "command line";
  }
  return "";
}

const std::string& Settings::Text(const std::string& name) const { return values_.at(name).value; }

int64_t Settings::Integer(const std::string& name) const {
  return static_cast<int64_t>(Number(name));
}

double Settings::Number(const std::string& name) const { return NumberOf(Text(name)); }

bool Settings::Flag(const std::string& name) const { return Text(name) == "true"; }

std::vector<std::string> Settings::List(const std::string& name) const {
  return SplitList(Text(name));
}

std::vector<std::string> Settings::Items(const std::string& name) const {
  return Text(name).empty() ? std::vector<std::string>{} : SplitList(Text(name), '\n');
}

bool Settings::IsDefault(const std::string& name) const {
  return values_.at(name).origin == SettingOrigin::kDefault;
}

void Settings::ApplyConfig(const OptionTable& table, const std::string& path) {
  std::set<std::string> given;
  for (const auto& [key, value] : ReadConfigFile(path)) {
    const OptionSpec& option = OptionOfKey(table, path, key);
    const std::string name = ConfigKey(option.name);
    if (key != name) notices_.push_back(fmt::format("{}: {}", path, Notice(key, name)));
    if (!given.insert(option.name).second) {
      throw Error(ErrorKind::kUsage, {path, key}, "given twice, also under its other name");
    }
    const bool lines = option.type == OptionType::kTextList;
    const std::string text = fmt::format("{}", fmt::join(value.items, lines ? "\n" : ","));
    CheckValue(option, text, path + ": " + key);
    values_[option.name] = {text, SettingOrigin::kConfig};
  }
}

void Settings::ApplyEnvironment(const OptionTable& table) {
  for (const OptionSpec& option : table) {
    if (!option.in_environment) continue;
    const std::string name = EnvironmentName(option.name);
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') continue;
    CheckValue(option, value, name);
    values_[option.name] = {value, SettingOrigin::kEnvironment};
  }
}

void Settings::ApplyWords(const OptionTable& table,
                          const std::map<std::string, std::string>& words) {
  for (const OptionSpec& option : table) {
    std::vector<std::string> names = option.former_names;
    names.push_back(option.name);
    bool given = false;
    for (const std::string& name : names) {
      const auto word = words.find(name);
      if (word == words.end()) continue;
      if (given) ThrowUsage("--" + name, "given more than once, also under its other name");
      given = true;
      // Of "--model=" the parser says so; a shell's --model "$NAME" must not mean the default
      // either.
      if (word->second.empty()) ThrowUsage("--" + name, "needs a value");
      if (name != option.name) notices_.push_back(Notice("--" + name, "--" + option.name));
      CheckValue(option, word->second, "--" + name);
      values_[option.name] = {word->second, SettingOrigin::kCommandLine};
    }
  }
}

// Words win over what files and the environment name.
void Settings::ApplyPositional(const OptionTable& table) {
  for (const OptionSpec& option : table) {
    if (!option.positional) continue;
    if (positional_.empty()) {
      positional_ = Items(option.name);
    } else {
      values_[option.name] = {fmt::format("{}", fmt::join(positional_, "\n")),
                              SettingOrigin::kCommandLine};
    }
  }
}

Settings ParseSettings(const OptionTable& table, const std::vector<std::string>& words) {
  OptionWords given = ParseWords(table, words);
  Settings settings;
  settings.positional_ = std::move(given.positional);
  for (const OptionSpec& option : table) {
    settings.values_[option.name] = {option.default_value, SettingOrigin::kDefault};
  }
  const std::string config = ConfigPath(table, given);
  if (!config.empty()) settings.ApplyConfig(table, config);
  settings.ApplyEnvironment(table);
  settings.ApplyWords(table, given.values);
  settings.ApplyPositional(table);
  return settings;
}

}  // namespace platen
