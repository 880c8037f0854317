// Which stored results are being added to: two documents of one content are read once.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "pipeline/doorbell.h"

namespace platen {

// Shared by the source and the sink of a batch. Thread-safe.
class KeysInFlight {
 public:
  // False if another document holds the key.
  bool Claim(const std::string& key) {
    const std::lock_guard lock(mutex_);
    return keys_.insert(key).second;
  }

  // Rings: who waits for the key may claim it.
  void Release(const std::string& key) {
    {
      const std::lock_guard lock(mutex_);
      keys_.erase(key);
    }
    released_.Ring();
  }

  Doorbell& released() { return released_; }

 private:
  std::mutex mutex_;
  std::set<std::string> keys_;
  Doorbell released_;
};

}  // namespace platen
