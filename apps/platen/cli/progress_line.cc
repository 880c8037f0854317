#include "apps/platen/cli/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "apps/platen/cli/log.h"
#include "model/support/clock.h"

namespace platen {
namespace {

constexpr int64_t kLiveIntervalNs = 200'000'000;

// Pages to read in the whole run, once `opened` documents have shown how many they have.
double ExpectedPages(const Progress& progress) {
  const int64_t unopened =
      progress.documents_total - progress.documents_opened - progress.documents_skipped;
  const double pages_of_one = progress.documents_opened > 0
                                  ? static_cast<double>(progress.pages_opened) /
                                        static_cast<double>(progress.documents_opened)
                                  : 1;
  return static_cast<double>(progress.pages_opened) + static_cast<double>(unopened) * pages_of_one;
}

}  // namespace

std::string RoughDuration(double seconds) {
  const auto s = static_cast<int64_t>(std::lround(seconds));
  const auto two = [](int64_t a, const char* a_unit, int64_t b, const char* b_unit) {
    return b > 0 ? fmt::format("{} {} {} {}", a, a_unit, b, b_unit)
                 : fmt::format("{} {}", a, a_unit);
  };
  if (s < 100) return fmt::format("{} s", s);
  const int64_t minutes = (s + 30) / 60;
  if (minutes < 100) return fmt::format("{} min", minutes);
  const int64_t hours = (minutes + 30) / 60;
  if (minutes < 24 * 60) return two(minutes / 60, "h", minutes % 60, "min");
  return two(hours / 24, "d", hours % 24, "h");
}

std::string ProgressText(const Progress& progress, double elapsed_s) {
  const double handled = static_cast<double>(progress.pages_handled());
  const double expected = std::max(ExpectedPages(progress), handled);
  const bool estimated =
      progress.documents_opened + progress.documents_skipped < progress.documents_total;
  const auto percent = static_cast<int>(expected > 0 ? 100 * handled / expected : 0);
  std::string line = fmt::format("[{:2} %] page {} of {}{:.0f}", percent, progress.pages_handled(),
                                 estimated ? "~" : "", expected);
  if (handled > 0 && elapsed_s > 0) {
    const double rate = handled / elapsed_s;
    line += fmt::format(", {:.{}f} pages/s, {} left", rate, rate < 1 ? 2 : 1,
                        RoughDuration((expected - handled) / rate));
  }
  return line + fmt::format(", {} failed", progress.failures);
}

ProgressLine::ProgressLine(double interval_s, bool quiet)
    : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0), start_ns_(MonotonicNs()) {
  interval_ns_ = terminal_ ? kLiveIntervalNs : static_cast<int64_t>(interval_s * 1e9);
  next_ns_ = start_ns_ + interval_ns_;
}

void ProgressLine::Show(const Progress& progress) {
  if (quiet_ || interval_ns_ == 0) return;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread is showing it
  const int64_t now = MonotonicNs();
  if (now < next_ns_) return;
  next_ns_ = now + interval_ns_;
  const std::string text = ProgressText(progress, static_cast<double>(now - start_ns_) * 1e-9);
  const std::string shown =
      terminal_ ? "\r\033[K" + text : fmt::format("{} {}\n", TimeStamp(), text);
  std::fputs(shown.c_str(), stderr);  // nobody may be there to read it
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Finish() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace platen
