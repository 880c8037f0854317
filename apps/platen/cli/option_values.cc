#include "apps/platen/cli/option_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

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

int64_t ByteCount(const std::string& text, int64_t least, const std::string& where) {
  constexpr std::string_view kUnits = "KMGT";
  constexpr double kMost = 1LL << 50;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  const std::string_view unit(stop, static_cast<size_t>(end - stop));
  const size_t power = unit.empty() ? std::string_view::npos : kUnits.find(unit.front());
  const bool known = power != std::string_view::npos &&
                     (unit.size() == 1 || unit.substr(1) == "B" || unit.substr(1) == "iB");
  if (error != std::errc() || !known || !(number > 0)) {
    ThrowUsage(where, fmt::format("\"{}\" is no size; write a number and its unit, such as 512M "
                                  "or 6G",
                                  text));
  }
  const double bytes = number * std::exp2(10 * (static_cast<double>(power) + 1));
  if (bytes < static_cast<double>(least) || bytes > kMost) {
    ThrowUsage(where, fmt::format("{} is outside {}M to 1024T", text, least >> 20));
  }
  return static_cast<int64_t>(bytes);
}

double NumberOf(const std::string& value) {
  double number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

}  // namespace platen
