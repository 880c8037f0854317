#include "apps/platen/cli/help.h"

#include <fmt/format.h>

#include <cstdio>
#include <sstream>

#include "apps/platen/cli/text_blocks.h"

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

// Blocks with an empty line after each.
std::string Blocks(const std::string& text) {
  std::string out;
  for (const TextBlock& block : TextBlocks(text)) {
    out += (block.as_it_is ? block.text : Wrapped(block.text, 0, kWidth) + "\n") + "\n";
  }
  return out;
}

std::string MeaningHelp(const std::vector<Meaning>& meanings) {
  std::string out;
  for (const Meaning& meaning : meanings) {
    out += fmt::format("  {:<{}}{}\n", meaning.name, kHelpColumn - 2,
                       Wrapped(meaning.text, kHelpColumn, kWidth));
  }
  return out;
}

}  // namespace

void PrintHelp(const CommandSpec& command) {
  std::string text;
  for (const std::string& line : command.synopsis) {
    text += (text.empty() ? "Usage: " : "       ") + line + "\n";
  }
  text += "\n" + Blocks(command.description);
  text.pop_back();
  text += OptionHelp(command.options);
  if (!command.variables.empty()) {
    text += "\nEnvironment:\n" + MeaningHelp(command.variables);
  }
  if (!command.after.empty()) {
    text += "\n" + Blocks(command.after);
    text.pop_back();
  }
  if (!command.exit_codes.empty()) {
    text += "\n" + Wrapped("Exit codes: " + MeaningsInALine(command.exit_codes) + ".", 0, kWidth) +
            "\n";
  }
  std::fputs(text.c_str(), stdout);
}

std::string MeaningsInALine(const std::vector<Meaning>& meanings) {
  std::string out;
  for (const Meaning& meaning : meanings) {
    out += (out.empty() ? "" : "; ") + meaning.name + " " + meaning.text;
  }
  return out;
}

std::string OptionText(const OptionSpec& option) {
  std::string text = option.help;
  if (!option.choices.empty()) text += fmt::format(" One of: {}.", fmt::join(option.choices, ", "));
  if (option.type != OptionType::kFlag && !option.default_value.empty()) {
    text += fmt::format(" [{}]", option.default_value);
  }
  return text;
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
    out += names + Wrapped(OptionText(option), kHelpColumn, kWidth) + "\n";
  }
  return out;
}

}  // namespace platen
