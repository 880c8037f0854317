// How other threads tell a graph that its source has more.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>

namespace platen {

// Thread-safe. Whoever rings need not know whether the graph works, waits, has not begun or is
// over.
class Doorbell {
 public:
  // The source has something new to say: a page, or its end.
  void Ring();

  // For the graph. From now on a ring calls `wake`; from Detach on it is remembered for Wait. When
  // Detach returns, no `wake` is being called.
  void Attach(std::function<void()> wake);
  void Detach();

  // Returns when it has been rung since Detach (or since the last Wait).
  void Wait();

 private:
  std::mutex mutex_;
  std::condition_variable rang_;
  std::function<void()> wake_;
  bool rung_ = false;
};

}  // namespace platen
