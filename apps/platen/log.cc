#include "apps/platen/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

namespace platen {
namespace {

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = spdlog::stderr_color_mt("platen");
    made->set_pattern(::isatty(STDERR_FILENO) != 0 ? "\r\033[K%^%l%$: %v" : "%^%l%$: %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kDebug: return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

void SetLogLevel(const std::string& name) { Logger().set_level(spdlog::level::from_str(name)); }

void Log(LogLevel level, const std::string& message) { Logger().log(ToSpdlog(level), message); }

}  // namespace platen
