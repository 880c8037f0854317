// Whether a run is to begin no further page: a signal has come, or its time is over.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

namespace platen {

// Thread-safe. The clock is the wall's, so that a deadline holds when the machine has slept or its
// clock was set.
class StopRequest {
 public:
  explicit StopRequest(std::optional<std::chrono::system_clock::time_point> deadline)
      : deadline_(deadline) {}

  // Says so once when the deadline has come.
  bool Asked();
  bool by_deadline() const { return by_deadline_; }

 private:
  std::optional<std::chrono::system_clock::time_point> deadline_;
  std::atomic<bool> by_deadline_ = false;
};

}  // namespace platen
