#include "apps/platen/commands/fetch/fetch_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "apps/platen/cli/progress_line.h"
#include "model/support/display_text.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

constexpr double kLineInterval_s = 30;  // where standard error is no terminal

}  // namespace

std::string DecimalBytes(int64_t bytes) {
  static constexpr std::array units = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return Counted(bytes, "byte");
  auto value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  const int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, digits, units[unit]);
}

std::string FetchProgressText(int64_t done, int64_t total, int64_t come, double elapsed_s,
                              const std::string& file) {
  const auto percent =
      total > 0 ? static_cast<int>(100 * static_cast<double>(done) / static_cast<double>(total))
                : 100;
  std::string text =
      fmt::format("[{:2} %] {} of {}", percent, DecimalBytes(done), DecimalBytes(total));
  if (come > 0 && elapsed_s > 0) {
    const double rate = static_cast<double>(come) / elapsed_s;
    text += fmt::format(", {}/s, {} left", DecimalBytes(static_cast<int64_t>(rate)),
                        RoughDuration(static_cast<double>(total - done) / rate));
  }
  return text + ", " + DisplayName(file);
}

FetchProgress::FetchProgress(int64_t total, int64_t there, bool quiet)
    : line_(kLineInterval_s, quiet), total_(total), there_(there), before_(there) {}

void FetchProgress::Begin(const std::string& file, int64_t there) {
  before_ += of_file_ - there;
  of_file_ = there;
  file_ = file;
}

void FetchProgress::Show(int64_t bytes_of_file) {
  of_file_ = bytes_of_file;
  line_.Show([&](double elapsed_s) {
    const int64_t done = std::clamp<int64_t>(before_ + of_file_, 0, total_);
    return FetchProgressText(done, total_, std::max<int64_t>(done - there_, 0), elapsed_s, file_);
  });
}

}  // namespace platen
