#include "apps/platen/cli/help.h"

#include <sstream>

namespace platen {
namespace {

constexpr size_t kHelpColumn = 28;
constexpr size_t kWidth = 100;

std::string Names(const OptionSpec& option) {
  std::string names = option.short_name != 0 ? std::string("-") + option.short_name + ", " : "    ";
  names += "--" + option.name;
  if (!option.value_name.empty()) names += " " + option.value_name;
  return names;
}

std::string Description(const OptionSpec& option) {
  std::string text = option.help;
  if (!option.choices.empty()) {
    text += " One of: ";
    for (size_t i = 0; i < option.choices.size(); ++i) {
      text += (i == 0 ? "" : ", ") + option.choices[i];
    }
    text += ".";
  }
  if (option.type != OptionType::kFlag && !option.default_value.empty()) {
    text += " [" + option.default_value + "]";
  }
  if (!option.environment.empty()) text += " Environment: " + option.environment + ".";
  return text;
}

}  // namespace

std::string Wrapped(const std::string& text, size_t indent, size_t width) {
  std::istringstream words(text);
  std::string out;
  size_t column = indent;
  for (std::string word; words >> word;) {
    if (!out.empty() && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::string OptionHelp(const OptionTable& table) {
  std::string out;
  std::string group;
  for (const OptionSpec& option : table) {
    if (option.group != group) {
      group = option.group;
      out += "\n" + group + ":\n";
    }
    std::string names = "  " + Names(option);
    if (names.size() + 2 > kHelpColumn) {
      names += "\n" + std::string(kHelpColumn, ' ');
    } else {
      names.resize(kHelpColumn, ' ');
    }
    out += names + Wrapped(Description(option), kHelpColumn, kWidth) + "\n";
  }
  return out;
}

}  // namespace platen
