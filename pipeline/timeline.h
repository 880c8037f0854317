// How a run went on: counts at times that are evenly spread, however long it lasts.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "pipeline/progress.h"

namespace platen {

struct TimelinePoint {
  double at_s = 0;  // since the start of the run
  int64_t pages_read = 0;
  int64_t pages_failed = 0;
  int64_t tokens = 0;
};

// Thread-safe.
class Timeline {
 public:
  static constexpr size_t kMostPoints = 240;

  // Keeps the counts if enough time has passed since the last: a second at first, twice as long
  // each time that the points have become too many, when every other one is dropped.
  void Add(double at_s, const Progress& progress);
  // The end, which stands at last whatever came before.
  void Finish(double at_s, const Progress& progress);

  // In order of time.
  std::vector<TimelinePoint> points() const;

 private:
  mutable std::mutex mutex_;
  double interval_s_ = 1;
  std::vector<TimelinePoint> points_;
};

}  // namespace platen
