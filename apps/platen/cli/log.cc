#include "apps/platen/cli/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <ctime>

#include "model/support/display_text.h"

namespace platen {
namespace {

bool OnTerminal() { return ::isatty(STDERR_FILENO) != 0; }

spdlog::logger& Logger() {
  static const std::shared_ptr<spdlog::logger> logger = [] {
    auto made = spdlog::stderr_color_mt("platen");
    made->set_pattern(OnTerminal() ? "\r\033[K%^%l%$: %v" : "%^%l%$: %v");
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *logger;
}

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::info;
}

}  // namespace

void SetLogLevel(const std::string& name) { Logger().set_level(spdlog::level::from_str(name)); }

void DateMessages() {
  if (!OnTerminal()) Logger().set_pattern("%Y-%m-%d %H:%M:%S %^%l%$: %v");
}

void Log(LogLevel level, const std::string& message) {
  Logger().log(ToSpdlog(level), Printable(message));
}

std::string TimeStamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
  return text;
}

}  // namespace platen
