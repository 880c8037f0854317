// Why a run ends before its work is done: the first reason counts.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

namespace platen {

// Thread-safe. An exception that left a body of the flow graph would cancel the graph's task
// context, and with it every parallel loop that happens to run, in the middle of its work. So none
// does: it is kept here, bodies that start later do nothing, the graph runs empty, and who waits
// for it rethrows.
class StopSignal {
 public:
  bool stopped() const { return stopped_.load(std::memory_order_acquire); }

  void Stop(std::exception_ptr reason) {
    const std::lock_guard lock(mutex_);
    if (reason_) return;
    reason_ = std::move(reason);
    stopped_.store(true, std::memory_order_release);
  }

  // Runs `work` unless the run has been stopped; an exception of it stops the run.
  template <typename Work>
  void Guard(Work&& work) {
    if (stopped()) return;
    try {
      work();
    } catch (...) {
      Stop(std::current_exception());
    }
  }

  // Throws the reason, if there is one. No body runs any more.
  void Rethrow() const {
    if (reason_) std::rethrow_exception(reason_);
  }

 private:
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::exception_ptr reason_;  // guarded by mutex_ while bodies run
};

}  // namespace platen
