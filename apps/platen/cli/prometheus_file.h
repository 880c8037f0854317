// Counts of a run in the text format of Prometheus, for the textfile collector of node_exporter.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "model/support/failure_code.h"
#include "pipeline/progress.h"

namespace platen {

// What a run says of itself when it ends.
struct RunOutcome {
  int exit_code = 0;
  double cpu_s = 0;
  int64_t peak_memory_bytes = 0;
  std::map<FailureCode, int64_t> failures;
};

// The lines, each metric with its help and type. `outcome` null: the run is going on. Times are
// seconds since 1970.
std::string PrometheusText(const Progress& progress, int64_t started_s, int64_t now_s,
                           const RunOutcome* outcome);

// Replaces the file as a whole, so that nobody reads half of it. Thread-safe; it has no thread.
class PrometheusFile {
 public:
  // Writes it at once: a file that cannot be written is known before the run. Throws
  // Error(kEnvironment), as the other members do.
  explicit PrometheusFile(std::string path);

  // Writes it if the last time is 15 seconds ago.
  void Show(const Progress& progress);
  void Finish(const Progress& progress, const RunOutcome& outcome);

 private:
  void Write(const Progress& progress, const RunOutcome* outcome);

  std::string path_;
  int64_t started_s_;
  std::mutex mutex_;
  int64_t next_ns_ = 0;
};

}  // namespace platen
