#include "apps/platen/cli/settings.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "apps/platen/cli/config_file.h"
#include "model/support/edit_distance.h"
#include "model/support/error.h"

namespace platen {
namespace {

namespace po = boost::program_options;

// Where a value came from, for messages: "--threads", "PLATEN_MODEL" or "run.json: threads".
[[noreturn]] void ThrowUsage(const std::string& where, const std::string& reason) {
  throw Error(ErrorKind::kUsage, {"", where}, reason);
}

std::vector<std::string> SplitList(const std::string& text, char separator = ',') {
  std::vector<std::string> items;
  size_t start = 0;
  while (true) {
    const size_t comma = text.find(separator, start);
    items.push_back(text.substr(start, comma - start));
    if (comma == std::string::npos) return items;
    start = comma + 1;
  }
}

std::string Joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text;
}

std::string PlainNumber(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return std::string(text, end);
}

double ParseNumber(const OptionSpec& option, const std::string& value, const std::string& where) {
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  const bool integer = option.type == OptionType::kInteger;
  if (error != std::errc() || stop != end || !std::isfinite(number) ||
      (integer && number != std::floor(number))) {
    ThrowUsage(where, "\"" + value + "\" is not " + (integer ? "a whole number" : "a number"));
  }
  if (number < option.min || number > option.max) {
    ThrowUsage(where,
               value + " is outside " + PlainNumber(option.min) + " to " + PlainNumber(option.max));
  }
  return number;
}

void CheckChoice(const OptionSpec& option, const std::string& value, const std::string& where) {
  if (std::find(option.choices.begin(), option.choices.end(), value) != option.choices.end()) {
    return;
  }
  ThrowUsage(where, "\"" + value + "\" is not one of " + Joined(option.choices));
}

void CheckValue(const OptionSpec& option, const std::string& value, const std::string& where) {
  switch (option.type) {
    case OptionType::kFlag:
      if (value != "true" && value != "false") {
        ThrowUsage(where, "\"" + value + "\" is neither true nor false");
      }
      break;
    case OptionType::kText:
    case OptionType::kTextList:
      break;
    case OptionType::kInteger:
    case OptionType::kNumber:
      if (!value.empty() || option.default_value != value) ParseNumber(option, value, where);
      break;
    case OptionType::kChoice:
      CheckChoice(option, value, where);
      break;
    case OptionType::kChoiceList: {
      std::set<std::string> seen;
      for (const std::string& item : SplitList(value)) {
        CheckChoice(option, item, where);
        if (!seen.insert(item).second) ThrowUsage(where, "\"" + item + "\" is given twice");
      }
      break;
    }
  }
}

const OptionSpec* FindOption(const OptionTable& table, const std::string& name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const OptionSpec& option) { return option.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::string Suggestion(const std::string& nearest) {
  return nearest.empty() ? "" : "; did you mean " + nearest + "?";
}

po::options_description Describe(const OptionTable& table) {
  po::options_description description;
  for (const OptionSpec& option : table) {
    const std::string names =
        option.name + (option.short_name != 0 ? std::string(",") + option.short_name : "");
    if (option.type == OptionType::kFlag) {
      description.add_options()(names.c_str(), po::bool_switch());
    } else if (option.type == OptionType::kTextList) {
      description.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing());
    } else {
      description.add_options()(names.c_str(), po::value<std::string>());
    }
  }
  return description;
}

// What users of other programs try, and what it is here.
std::string AnswerTo(const std::string& option) {
  static const std::map<std::string, std::string> answers = {
      {"--lang", "platen has no language option; the model decides (see --model)"},
      {"--language", "platen has no language option; the model decides (see --model)"},
      {"-l", "platen has no language option; the model decides (see --model)"},
      {"--resume", "is not needed: the same command goes on from what is finished"},
      {"--jobs", "unknown option; did you mean --threads (-j)?"},
      {"--f32-gemm", "is not needed: platen always multiplies with its own kernels; leave it out"},
      {"--recursive", "is not needed: folders are read with everything below them"},
      {"-r", "is not needed: folders are read with everything below them"},
  };
  const auto found = answers.find(option);
  return found == answers.end() ? "" : found->second;
}

[[noreturn]] void ThrowUnknownOption(const OptionTable& table, const std::string& written) {
  const std::string bare = written.substr(0, written.find('='));
  const std::string answer = AnswerTo(bare);
  if (!answer.empty()) ThrowUsage(bare, answer);
  std::vector<std::string> names;
  for (const OptionSpec& option : table) names.push_back("--" + option.name);
  const std::string nearest = NearestName(bare, names);
  ThrowUsage(bare, "unknown option; " + (nearest.empty() ? "--help lists all of them"
                                                         : "did you mean " + nearest + "?"));
}

po::variables_map ParseWords(const OptionTable& table, const std::vector<std::string>& words,
                             std::vector<std::string>& positional) {
  const po::options_description description = Describe(table);
  namespace style = po::command_line_style;
  try {
    const po::parsed_options parsed =
        po::command_line_parser(words)
            .options(description)
            .style(style::unix_style & ~style::allow_guessing & ~style::allow_sticky)
            .run();
    po::variables_map values;
    po::store(parsed, values);
    for (const auto& option : parsed.options) {
      if (option.position_key >= 0) positional.push_back(option.value.at(0));
    }
    return values;
  } catch (const po::unknown_option& e) {
    ThrowUnknownOption(table, e.get_option_name());
  } catch (const po::multiple_occurrences& e) {
    ThrowUsage(e.get_option_name(), "given more than once");
  } catch (const po::invalid_command_line_syntax& e) {
    const bool missing = e.kind() == po::invalid_syntax::missing_parameter ||
                         e.kind() == po::invalid_syntax::empty_adjacent_parameter;
    ThrowUsage(e.get_option_name(), missing ? "needs a value" : "takes no value");
  } catch (const po::error& e) {
    ThrowUsage("", e.what());
  }
}

void ApplyConfig(const OptionTable& table, const std::string& path,
                 std::map<std::string, Setting>& values) {
  for (const auto& [key, value] : ReadConfigFile(path)) {
    const auto option = std::find_if(table.begin(), table.end(), [&](const OptionSpec& o) {
      return o.in_config && ConfigKey(o.name) == key;
    });
    if (option == table.end()) {
      const bool known = std::any_of(table.begin(), table.end(),
                                     [&](const OptionSpec& o) { return ConfigKey(o.name) == key; });
      if (known) {
        throw Error(ErrorKind::kUsage, {path, key},
                    "cannot be set in a file; give it on the command line");
      }
      std::vector<std::string> keys;
      for (const OptionSpec& o : table) {
        if (o.in_config) keys.push_back(ConfigKey(o.name));
      }
      const std::string answer = AnswerTo("--" + OptionName(key));
      throw Error(ErrorKind::kUsage, {path, key},
                  answer.empty() ? "unknown key" + Suggestion(NearestName(key, keys)) : answer);
    }
    CheckValue(*option, value, path + ": " + key);
    values[option->name] = {value, SettingOrigin::kConfig};
  }
}

void ApplyEnvironment(const OptionTable& table, std::map<std::string, Setting>& values) {
  for (const OptionSpec& option : table) {
    if (option.environment.empty()) continue;
    const char* value = std::getenv(option.environment.c_str());
    if (value == nullptr || *value == '\0') continue;
    CheckValue(option, value, option.environment);
    values[option.name] = {value, SettingOrigin::kEnvironment};
  }
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

double Settings::Number(const std::string& name) const {
  const std::string& value = Text(name);
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

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

Settings ParseSettings(const OptionTable& table, const std::vector<std::string>& words) {
  Settings settings;
  const po::variables_map given = ParseWords(table, words, settings.positional_);
  for (const OptionSpec& option : table) {
    settings.values_[option.name] = {option.default_value, SettingOrigin::kDefault};
  }
  if (FindOption(table, "config") != nullptr && given.count("config") != 0) {
    ApplyConfig(table, given["config"].as<std::string>(), settings.values_);
  }
  ApplyEnvironment(table, settings.values_);
  for (const OptionSpec& option : table) {
    if (given.count(option.name) == 0) continue;
    std::string value = "true";
    if (option.type == OptionType::kFlag) {
      if (!given[option.name].as<bool>()) continue;
    } else if (option.type == OptionType::kTextList) {
      value.clear();
      for (const std::string& item : given[option.name].as<std::vector<std::string>>()) {
        value += (value.empty() ? "" : "\n") + item;
      }
    } else {
      value = given[option.name].as<std::string>();
      CheckValue(option, value, "--" + option.name);
    }
    settings.values_[option.name] = {value, SettingOrigin::kCommandLine};
  }
  return settings;
}

}  // namespace platen
