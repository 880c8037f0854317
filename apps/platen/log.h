// Messages for people, on standard error. Results never go here.
#pragma once

#include <string>

namespace platen {

enum class LogLevel { kError, kWarning, kInfo, kDebug };

// "error", "warning", "info", "debug".
void SetLogLevel(const std::string& name);

// Thread-safe. A live progress line is cleared first.
void Log(LogLevel level, const std::string& message);

}  // namespace platen
