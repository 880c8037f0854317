// Messages for people, on standard error. Results never go here.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace platen {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "error", "warning", "info", "debug".
void SetLogLevel(const std::string& name);

// From now on each message is a line of JSON:
// {"time":"2026-11-24T22:00:00Z","level":"info","message":
// "..."}.
void LogAsJson();
bool LogsAsJson();

// A line of JSON with more than a message: `members` is an object.
void LogJson(const std::string& level, const nlohmann::ordered_json& members);

// From now on messages carry date and time where standard error is no terminal: a log of a long
// run.
void DateMessages();

// Thread-safe. A live progress line is cleared first. What could be a command to a terminal
// (control characters in names of files) is shown as \xNN.
void Log(LogLevel level, const std::string& message);

// "2026-11-23 04:05:06", local time.
std::string TimeStamp();

}  // namespace platen
