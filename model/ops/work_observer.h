// Watching the work that runs on the worker pool, for traces. One watcher for the process, as there
// is one pool.
#pragma once

#include <cstdint>

#include "model/support/clock.h"

namespace platen {

// One product of `rows` rows with a layer of n columns and depth k.
struct GemmCall {
  int64_t rows = 0;
  int64_t n = 0;  // of a silu pair: both factors
  int64_t k = 0;
  const char* precision = "";
};

// Called by the threads that do the work, many at once. Times are nanoseconds of the monotonic
// clock.
class WorkObserver {
 public:
  virtual ~WorkObserver() = default;
  // The calling thread has had a product computed, its own tiles and others'.
  virtual void OnGemm(const GemmCall& call, int64_t start_ns, int64_t end_ns) = 0;
  // The calling thread has run one iteration of a parallel loop; `loop` tells loops apart.
  virtual void OnLoopBody(uint64_t loop, int64_t start_ns, int64_t end_ns) = 0;
};

// nullptr (the default): nobody watches; that costs one load for each product and each loop.
WorkObserver* CurrentWorkObserver();

// Call it while no work runs; the observer must outlive the work it watches.
void SetWorkObserver(WorkObserver* observer);

// Tells the observer, if there is one, when a product began and ended.
class WatchedGemm {
 public:
  explicit WatchedGemm(const GemmCall& call) : observer_(CurrentWorkObserver()), call_(call) {
    if (observer_ != nullptr) start_ns_ = MonotonicNs();
  }
  WatchedGemm(const WatchedGemm&) = delete;
  WatchedGemm& operator=(const WatchedGemm&) = delete;
  ~WatchedGemm() {
    if (observer_ != nullptr) observer_->OnGemm(call_, start_ns_, MonotonicNs());
  }

 private:
  WorkObserver* observer_;
  GemmCall call_;
  int64_t start_ns_ = 0;
};

}  // namespace platen
