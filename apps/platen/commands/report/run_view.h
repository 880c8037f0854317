// A run as its run.json tells of it. Nothing in the file is trusted: what is missing or of another
// type is empty or 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/run_history.h"
#include "pipeline/shard.h"
#include "pipeline/timeline.h"

namespace platen {

struct StageView {
  std::string name;
  int64_t calls = 0;
  double thread_cpu_s = 0;
};

// Of the drafts at one position of speculative decoding.
struct AcceptanceView {
  int64_t drafted = 0;
  double rate = 0;  // all up to this position were right, 0..1
};

struct DoubtView {
  std::string name;    // of the document, for people
  std::string output;  // path of its outputs; empty: of an earlier version
  int page = 0;
  std::string code;
  std::string text;
};

struct RunView {
  std::string name;  // as PastRun, as its number is
  int64_t number = 0;
  Shard shard;
  std::string started_at, ended_at;  // "2026-11-24T22:00:00Z"
  int64_t started_s = 0;             // the same in seconds since 1970; 0: it does not say
  std::string result, host, model, kernels, cpu, version;
  int64_t threads = 0, slots = 0;
  int64_t documents = 0, documents_read = 0, documents_failed = 0, documents_before = 0;
  int64_t pages_read = 0, pages_failed = 0, pages_doubtful = 0, pages_from_text_layer = 0;
  int64_t failures = 0, tokens = 0;
  double wall_s = 0;
  double core_s = 0;  // child processes included, loading the model not
  double load_s = 0;
  int64_t peak_memory_bytes = 0;
  std::vector<TimelinePoint> timeline;
  std::vector<StageView> stages;
  std::vector<AcceptanceView> acceptance;
  double mean_accepted_length = 0, tokens_per_pass = 0, rows_per_step = 0;
  double draft_s = 0, verify_s = 0;  // wall time: of drafting, of the passes of the model
  double rows_wasted = 0;            // share of rows whose draft was wrong, 0..1
  int64_t drafts_not_verified = 0;
  std::string speculation;                               // "on", or "off: why"
  std::vector<std::pair<std::string, int64_t>> reasons;  // of failures, by code
  std::vector<DoubtView> doubts;
  std::vector<std::pair<std::string, std::string>> options;  // that are not the default

  double PagesPerSecond() const {
    return wall_s > 0 ? static_cast<double>(pages_read) / wall_s : 0;
  }
  double PagesPerCoreHour() const {
    return core_s > 0 ? static_cast<double>(pages_read) * 3600 / core_s : 0;
  }
  double CoreSecondsPerPage() const {
    return pages_read > 0 ? core_s / static_cast<double>(pages_read) : 0;
  }
};

// Nothing if the file is no JSON object.
std::optional<RunView> ViewOf(const PastRun& run, const Shard& shard);

}  // namespace platen
