#include "apps/platen/cli/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/utc_time.h"
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

const char* LevelName(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kDebug:
      return "debug";
  }
  return "info";
}

std::atomic<bool> as_json = false;

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

void LogAsJson() {
  as_json = true;
  Logger().set_pattern("%v");
}

bool LogsAsJson() { return as_json; }

void LogJson(const std::string& level, const nlohmann::ordered_json& members) {
  nlohmann::ordered_json line = {{"time", UtcTime(std::time(nullptr))}, {"level", level}};
  line.update(members);
  Logger().log(spdlog::level::critical,
               line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void DateMessages() {
  if (as_json) return;
  if (!OnTerminal()) Logger().set_pattern("%Y-%m-%d %H:%M:%S %^%l%$: %v");
}

void Log(LogLevel level, const std::string& message) {
  if (!as_json) {
    Logger().log(ToSpdlog(level), Printable(message));
  } else if (Logger().should_log(ToSpdlog(level))) {
    LogJson(LevelName(level), {{"message", message}});
  }
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
