// One live line on a terminal, a line every few seconds elsewhere; on standard error.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "pipeline/progress.h"

namespace platen {

// "12/40 documents, 57 pages (1 failed), 3.2 pages/s, 410 tokens/s, 0:38 left"
std::string ProgressText(const Progress& progress, double elapsed_s);

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
