// A time of day, or a date and a time, until which something may go on.
#pragma once

#include <chrono>
#include <string>

namespace platen {

// "06:00": the next time, local, that the clock shows it, at most a day from `now`. "2026-12-24
// 06:00" (or with a T between): that time, which is still to come. Throws Error(kUsage) for
// anything else, naming --deadline.
std::chrono::system_clock::time_point ParseDeadline(const std::string& text,
                                                    std::chrono::system_clock::time_point now);

}  // namespace platen
