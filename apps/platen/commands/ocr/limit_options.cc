#include "apps/platen/commands/ocr/limit_options.h"

#include <sys/resource.h>

#include <algorithm>

#include "apps/platen/cli/deadline.h"
#include "apps/platen/cli/option_values.h"
#include "stages/readers/left_behind.h"

namespace platen {
namespace {

constexpr int64_t kLeastMemory = int64_t{64} << 20;

}  // namespace

void AddLimits(OptionTable& table) {
  const std::string group = "Limits";
  table.push_back({.name = "page-timeout",
                   .type = OptionType::kNumber,
                   .default_value = "0",
                   .value_name = "S",
                   .group = group,
                   .help = "Give a page up that takes longer, by the clock, from when it is begun: "
                           "it fails, and the next run tries it again. 0: no limit. Pages in "
                           "memory are read together, so leave room.",
                   .min = 0,
                   .max = 1e9,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "document-timeout",
                   .type = OptionType::kNumber,
                   .default_value = "0",
                   .value_name = "S",
                   .group = group,
                   .help = "The same for a document: its pages that are not read by then fail.",
                   .min = 0,
                   .max = 1e9,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "deadline",
                   .value_name = "TIME",
                   .group = group,
                   .help = "Begin no page after this time (06:00, or \"2026-12-24 06:00\"), finish "
                           "those in memory and end with exit code 130. The same command goes on.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "max-pages",
                   .type = OptionType::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "Read at most so many pages in this run, and leave the rest to the "
                           "next. 0: all.",
                   .min = 0,
                   .max = 9e15,
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "memory-limit",
                   .value_name = "SIZE",
                   .group = group,
                   .help = "Plan for this much memory (6G, 512M): pages at once and the attention "
                           "cache follow from it. Without it, what the machine or the container "
                           "has.",
                   .changes_results = OptionSpec::kNo});
  table.push_back({.name = "nice",
                   .type = OptionType::kInteger,
                   .default_value = "0",
                   .value_name = "N",
                   .group = group,
                   .help = "Give way to other programs: 19 the most, 0 not at all.",
                   .min = 0,
                   .max = 19,
                   .changes_results = OptionSpec::kNo});
}

TimeLimits TimeLimitsFrom(const Settings& settings) {
  return {settings.Number("page-timeout"), settings.Number("document-timeout")};
}

double PatienceFrom(const Settings& settings) {
  // A read of so many seconds comes back in the end, even from a busy server.
  constexpr double kLeast = 5;
  const double page_s = TimeLimitsFrom(settings).page_s;
  return page_s > 0 ? std::clamp(page_s, kLeast, kUsualPatienceS) : kUsualPatienceS;
}

std::optional<std::chrono::system_clock::time_point> DeadlineFrom(const Settings& settings) {
  const std::string& text = settings.Text("deadline");
  if (text.empty()) return std::nullopt;
  return ParseDeadline(text, std::chrono::system_clock::now());
}

int64_t MemoryLimitFrom(const Settings& settings) {
  const std::string& text = settings.Text("memory-limit");
  return text.empty() ? 0 : ByteCount(text, kLeastMemory, "--memory-limit");
}

void LowerPriority(const Settings& settings) {
  const auto by = static_cast<int>(settings.Integer("nice"));
  if (by > 0) ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + by);
}

}  // namespace platen
