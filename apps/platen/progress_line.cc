#include "apps/platen/progress_line.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "model/support/clock.h"

namespace platen {
namespace {

constexpr int64_t kLiveIntervalNs = 200'000'000;

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  char text[48];
  if (whole >= 3600) {
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", static_cast<long long>(whole / 3600),
                  static_cast<long long>(whole / 60 % 60), static_cast<long long>(whole % 60));
  } else {
    std::snprintf(text, sizeof(text), "%lld:%02lld", static_cast<long long>(whole / 60),
                  static_cast<long long>(whole % 60));
  }
  return text;
}

}  // namespace

std::string ProgressText(const Progress& progress, double elapsed_s) {
  const double elapsed = std::max(elapsed_s, 1e-3);
  const int64_t finished = progress.documents_done + progress.documents_skipped;
  char text[256];
  std::snprintf(text, sizeof(text),
                "%lld/%lld documents, %lld pages (%lld failed), "
                "%.2f pages/s, %.0f tokens/s",
                static_cast<long long>(finished), static_cast<long long>(progress.documents_total),
                static_cast<long long>(progress.pages_done),
                static_cast<long long>(progress.pages_failed),
                static_cast<double>(progress.pages_done) / elapsed,
                static_cast<double>(progress.tokens) / elapsed);
  std::string line = text;
  const int64_t remaining = progress.documents_total - finished;
  if (progress.documents_done > 0 && remaining > 0) {
    line += ", about " +
            Duration(elapsed * static_cast<double>(remaining) /
                     static_cast<double>(progress.documents_done)) +
            " left";
  }
  return line;
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
  std::fprintf(stderr, terminal_ ? "\r\033[K%s" : "%s\n", text.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::Finish() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace platen
