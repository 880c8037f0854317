// How far a run is, as a live line.
#pragma once

#include <string>

#include "apps/platen/cli/live_line.h"
#include "pipeline/progress.h"

namespace platen {

// "[ 5 %] page 31 of ~600, 1.0 pages/s, 8 min left, 0 failed". The number of pages is an estimate
// (~) until all documents have been opened.
std::string ProgressText(const Progress& progress, double elapsed_s);

// "45 s", "8 min", "2 h 10 min", "3 d 4 h".
std::string RoughDuration(double seconds);

// Thread-safe.
class ProgressLine {
 public:
  ProgressLine(double interval_s, bool quiet) : line_(interval_s, quiet) {}  // as of LiveLine

  void Show(const Progress& progress);
  void Finish() { line_.Finish(); }

 private:
  LiveLine line_;
};

}  // namespace platen
