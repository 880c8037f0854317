#include "pipeline/timeline.h"

namespace platen {
namespace {

TimelinePoint PointOf(double at_s, const Progress& progress) {
  return {at_s, progress.pages_read, progress.pages_failed, progress.tokens};
}

}  // namespace

void Timeline::Add(double at_s, const Progress& progress) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread adds the same
  const double last_s = points_.empty() ? 0 : points_.back().at_s;
  if (at_s < last_s + interval_s_) return;
  points_.push_back(PointOf(at_s, progress));
  if (points_.size() < kMostPoints) return;
  interval_s_ *= 2;
  for (size_t i = 1; i < points_.size(); i += 2) points_[i / 2] = points_[i];
  points_.resize(points_.size() / 2);
}

void Timeline::Finish(double at_s, const Progress& progress) {
  const std::lock_guard lock(mutex_);
  points_.push_back(PointOf(at_s, progress));
}

std::vector<TimelinePoint> Timeline::points() const {
  const std::lock_guard lock(mutex_);
  return points_;
}

}  // namespace platen
