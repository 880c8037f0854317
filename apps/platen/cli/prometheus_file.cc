#include "apps/platen/cli/prometheus_file.h"

#include <fmt/format.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "model/support/atomic_file.h"
#include "model/support/clock.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int64_t kIntervalNs = 15'000'000'000;

struct Metric {
  std::string_view name;
  std::string_view help;
  int64_t Progress::*count;
};

constexpr Metric kCounters[] = {
    {"platen_documents_read_total", "Documents read by this run.", &Progress::documents_read},
    {"platen_documents_failed_total", "Documents that failed, or have pages that did.",
     &Progress::documents_failed},
    {"platen_documents_finished_before_total", "Documents that an earlier run has finished.",
     &Progress::documents_skipped},
    {"platen_pages_read_total", "Pages read by this run.", &Progress::pages_read},
    {"platen_pages_failed_total", "Pages that failed, in part or as a whole.",
     &Progress::pages_failed},
    {"platen_pages_doubtful_total", "Pages worth a look.", &Progress::pages_doubtful},
    {"platen_tokens_total", "Tokens decoded.", &Progress::tokens},
    {"platen_failures_total", "Failures of documents and pages.", &Progress::failures},
};

void AddHead(std::string& text, std::string_view name, std::string_view help,
             std::string_view type) {
  text += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <typename Number>
void Add(std::string& text, std::string_view name, std::string_view help, std::string_view type,
         Number value) {
  AddHead(text, name, help, type);
  text += fmt::format("{} {}\n", name, value);
}

void AddOutcome(std::string& text, const RunOutcome& outcome) {
  Add(text, "platen_exit_code", "Exit code of the run.", "gauge", outcome.exit_code);
  Add(text, "platen_cpu_seconds", "CPU time of the run, child processes included.", "gauge",
      outcome.cpu_s);
  Add(text, "platen_peak_memory_bytes", "Most memory that the run had.", "gauge",
      outcome.peak_memory_bytes);
  constexpr std::string_view kByReason = "platen_failures_by_reason";
  AddHead(text, kByReason, "Failures by their reason.", "gauge");
  for (const auto& [code, count] : outcome.failures) {
    text += fmt::format("{}{{reason=\"{}\"}} {}\n", kByReason, FailureCodeName(code), count);
  }
}

}  // namespace

std::string PrometheusText(const Progress& progress, int64_t started_s, int64_t now_s,
                           const RunOutcome* outcome) {
  std::string text;
  Add(text, "platen_documents", "Documents that the run has to do with.", "gauge",
      progress.documents_total);
  for (const Metric& metric : kCounters) {
    Add(text, metric.name, metric.help, "counter", progress.*metric.count);
  }
  Add(text, "platen_run_start_time_seconds", "When the run started.", "gauge", started_s);
  Add(text, "platen_last_update_time_seconds", "When this file was written.", "gauge", now_s);
  Add(text, "platen_run_finished", "1: the run has ended, 0: it is going on.", "gauge",
      outcome != nullptr ? 1 : 0);
  if (outcome != nullptr) AddOutcome(text, *outcome);
  return text;
}

PrometheusFile::PrometheusFile(std::string path)
    : path_(std::move(path)), started_s_(std::time(nullptr)) {
  Write({}, nullptr);
}

void PrometheusFile::Show(const Progress& progress) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || MonotonicNs() < next_ns_) return;
  Write(progress, nullptr);
}

void PrometheusFile::Finish(const Progress& progress, const RunOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  Write(progress, &outcome);
}

void PrometheusFile::Write(const Progress& progress, const RunOutcome* outcome) {
  next_ns_ = MonotonicNs() + kIntervalNs;
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    ReplaceFile(path_, PrometheusText(progress, started_s_, std::time(nullptr), outcome),
                Folder::Missing::kCreate);
  });
}

}  // namespace platen
