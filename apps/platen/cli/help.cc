#include "apps/platen/cli/help.h"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>

namespace platen {
namespace {

constexpr size_t kHelpColumn = 28;
constexpr size_t kWidth = 100;

std::string Names(const OptionSpec& option) {
  const std::string before =
      option.short_name != 0 ? fmt::format("-{}, ", option.short_name) : "    ";
  const std::string value = option.value_name.empty() ? "" : " " + option.value_name;
  return fmt::format("{}--{}{}", before, option.name, value);
}

std::string Description(const OptionSpec& option) {
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" One of: {}.", fmt::join(option.choices, ", "));
  if (option.type != OptionType::kFlag && !option.default_value.empty()) {
    text += fmt::format(" [{}]", option.default_value);
  }
  return text;
}

}  // namespace

void PrintHelp(const CommandHelp& help, const OptionTable& table) {
  const std::string text = help.usage + OptionHelp(table) + help.after;
  std::fputs(text.c_str(), stdout);
}

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
    if (option.positional) continue;
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
