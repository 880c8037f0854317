// One live line on a terminal, a dated line every few seconds elsewhere; on standard error.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "pipeline/progress.h"

namespace platen {

// "[ 5 %] page 31 of ~600, 1.0 pages/s, 8 min left, 0 failed". The number of pages is an estimate
// (~) until all documents have been opened.
std::string ProgressText(const Progress& progress, double elapsed_s);

// "45 s", "8 min", "2 h 10 min", "3 d 4 h".
std::string RoughDuration(double seconds);

// Thread-safe. It has no thread: it is shown when the run calls Show and it is time.
class ProgressLine {
 public:
  // `interval_s` between lines where standard error is no terminal; `quiet`: nothing is shown.
  ProgressLine(double interval_s, bool quiet);

  void Show(const Progress& progress);
  void Finish();  // takes the live line away

 private:
  std::mutex mutex_;
  bool quiet_;
  bool terminal_;
  bool shown_ = false;
  int64_t interval_ns_;
  int64_t start_ns_;
  int64_t next_ns_;
};

}  // namespace platen
