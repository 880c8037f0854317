#include "apps/platen/cli/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace platen {
namespace {

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

void ProgressLine::Show(const Progress& progress) {
  line_.Show([&](double elapsed_s) { return ProgressText(progress, elapsed_s); },
             [&] {
               return nlohmann::ordered_json{
                   {"documents", progress.documents_total},
                   {"documents_read", progress.documents_read},
                   {"documents_failed", progress.documents_failed},
                   {"documents_finished_before", progress.documents_skipped},
                   {"pages_read", progress.pages_read},
                   {"pages_failed", progress.pages_failed},
                   {"failures", progress.failures}};
             });
}

}  // namespace platen
