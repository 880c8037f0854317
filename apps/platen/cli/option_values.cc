#include "apps/platen/cli/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "model/support/error.h"

namespace platen {
namespace {

void CheckNumber(const OptionSpec& option, const std::string& value, const std::string& where) {
  if (!option.word.empty() && value == option.word) return;
  double number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  const bool integer = option.type == OptionType::kInteger;
  if (error != std::errc() || stop != end || !std::isfinite(number) ||
      (integer && number != std::floor(number))) {
    ThrowUsage(where,
               fmt::format("\"{}\" is not {}{}", value, integer ? "a whole number" : "a number",
                           option.word.empty() ? "" : " or " + option.word));
  }
  if (number < option.min || number > option.max) {
    ThrowUsage(where, fmt::format("{} is outside {} to {}", value, option.min, option.max));
  }
}

void CheckChoice(const OptionSpec& option, const std::string& value, const std::string& where) {
  const auto& choices = option.choices;
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return;
  for (const auto& [former, now] : option.former_choices) {
    if (value == former) {
      ThrowUsage(where, fmt::format("\"{}\" is no more; take \"{}\" instead", value, now));
    }
  }
  ThrowUsage(where, fmt::format("\"{}\" is not one of {}", value, fmt::join(choices, ", ")));
}

void CheckChoices(const OptionSpec& option, const std::string& value, const std::string& where) {
  std::set<std::string> seen;
  for (const std::string& item : SplitList(value)) {
    CheckChoice(option, item, where);
    if (!seen.insert(item).second) ThrowUsage(where, fmt::format("\"{}\" is given twice", item));
  }
}

}  // namespace

void ThrowUsage(const std::string& where, const std::string& reason) {
  throw Error(ErrorKind::kUsage, {"", where}, reason);
}

std::vector<std::string> SplitList(const std::string& text, char separator) {
  std::vector<std::string> items;
  size_t start = 0;
  while (true) {
    const size_t end = text.find(separator, start);
    items.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return items;
    start = end + 1;
  }
}

void CheckValue(const OptionSpec& option, const std::string& value, const std::string& where) {
  switch (option.type) {
    case OptionType::kFlag:
      if (value != "true" && value != "false") {
        ThrowUsage(where, fmt::format("\"{}\" is neither true nor false", value));
      }
      break;
    case OptionType::kText:
    case OptionType::kTextList:
      break;
    case OptionType::kInteger:
    case OptionType::kNumber:
      if (!value.empty() || !option.default_value.empty()) CheckNumber(option, value, where);
      break;
    case OptionType::kChoice:
      CheckChoice(option, value, where);
      break;
    case OptionType::kChoiceList:
      CheckChoices(option, value, where);
      break;
  }
}

double NumberOf(const std::string& value) {
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace platen
