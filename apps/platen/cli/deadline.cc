#include "apps/platen/cli/deadline.h"

#include <algorithm>
#include <ctime>

#include "apps/platen/cli/option_values.h"

namespace platen {
namespace {

using Clock = std::chrono::system_clock;

// All of `text`, as strptime understands the format.
bool Matches(const std::string& text, const char* format, std::tm& time) {
  const char* end = ::strptime(text.c_str(), format, &time);
  return end != nullptr && *end == '\0';
}

// Of a local date and time; one that a change of the clock leaves out moves to the other side of
// it. False: there is no such day.
bool ToTime(std::tm local, Clock::time_point& time) {
  const int day = local.tm_mday;
  local.tm_isdst = -1;
  const std::time_t seconds = std::mktime(&local);
  constexpr std::time_t kMost = 7'000'000'000;  // in 2191: a clock of nanoseconds ends in 2262
  time = Clock::from_time_t(std::min(seconds, kMost));
  return seconds != -1 && local.tm_mday == day;
}

}  // namespace

Clock::time_point ParseDeadline(const std::string& text, Clock::time_point now) {
  const std::time_t seconds = Clock::to_time_t(now);
  std::tm today = {};
  ::localtime_r(&seconds, &today);
  today.tm_sec = 0;
  Clock::time_point time;
  std::tm of_day = today;
  if (Matches(text, "%H:%M", of_day)) {
    ToTime(of_day, time);
    if (time > now) return time;
    std::tm tomorrow = of_day;
    ++tomorrow.tm_mday;
    tomorrow.tm_isdst = -1;
    return Clock::from_time_t(std::mktime(&tomorrow));
  }
  for (const char* format : {"%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"}) {
    std::tm date = {};
    if (!Matches(text, format, date)) continue;
    if (!ToTime(date, time)) break;
    if (time <= now) ThrowUsage("--deadline", text + " is over already");
    return time;
  }
  ThrowUsage("--deadline", "\"" + text +
                               "\" is no time; write the next 06:00, or a day with its time: "
                               "\"2026-12-24 06:00\"");
}

}  // namespace platen
