#include "apps/platen/cli/live_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/platen/cli/log.h"
#include "model/support/clock.h"

namespace platen {
namespace {

constexpr int64_t kLiveIntervalNs = 200'000'000;

}  // namespace

LiveLine::LiveLine(double interval_s, bool quiet)
    : quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0 && !LogsAsJson()),
      start_ns_(MonotonicNs()) {
  interval_ns_ = terminal_ ? kLiveIntervalNs : static_cast<int64_t>(interval_s * 1e9);
  next_ns_ = start_ns_ + interval_ns_;
}

void LiveLine::Show(const std::function<std::string(double elapsed_s)>& text,
                    const std::function<nlohmann::ordered_json()>& members) {
  if (quiet_ || interval_ns_ == 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is showing it
  const int64_t now = MonotonicNs();
  if (now < next_ns_) return;
  next_ns_ = now + interval_ns_;
  const std::string line = text(static_cast<double>(now - start_ns_) * 1e-9);
  if (LogsAsJson()) {
    nlohmann::ordered_json json = {{"message", line}};
    if (members) json.update(members());
    LogJson("progress", json);
    return;
  }
  const std::string shown =
      terminal_ ? "\r\033[K" + line : fmt::format("{} {}\n", TimeStamp(), line);
  std::fputs(shown.c_str(), stderr);  // nobody may be there to read it
  std::fflush(stderr);
  shown_ = true;
}

void LiveLine::Finish() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace platen
