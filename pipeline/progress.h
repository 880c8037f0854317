// Counts of a run while it runs.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace platen {

// Documents: total = read + failed + skipped + not read (yet). Pages are those of this run.
struct Progress {
  int64_t documents_total = 0;
  int64_t documents_opened = 0;   // or tried to: everything but skipped and not reached
  int64_t documents_read = 0;     // written, and nothing of them is missing
  int64_t documents_failed = 0;   // not opened, not written, or with pages that failed
  int64_t documents_skipped = 0;  // finished by an earlier run
  int64_t pages_opened = 0;       // to be read, of the documents opened
  int64_t pages_admitted = 0;     // of those: with a slot, now or before
  int64_t pages_read = 0;
  int64_t pages_failed = 0;           // in part or as a whole; not among those read
  int64_t pages_doubtful = 0;         // of those read or failed; see PageResult::doubts
  int64_t pages_from_text_layer = 0;  // of those read or failed: the text is their own
  int64_t pages_resumed = 0;          // taken from an earlier run's finished pages
  int64_t pages_skipped = 0;          // of skipped documents
  int64_t failures = 0;               // reported: of pages and of documents
  int64_t regions = 0;
  int64_t regions_failed = 0;
  int64_t regions_read_again = 0;  // at another scale, because their text repeated itself
  int64_t regions_retried = 0;     // read again by themselves, because their batch failed
  int64_t tokens = 0;
  int64_t low_confidence_lines = 0;
  int64_t lines = 0;

  int64_t pages_handled() const { return pages_read + pages_failed; }
  int64_t pages_in_flight() const { return pages_admitted - pages_handled(); }
  int64_t documents_not_read() const {
    return documents_total - documents_read - documents_failed - documents_skipped;
  }
};

// Thread-safe. Stages add to the counters; whoever calls Report lets the observer look. There is no
// thread that waits to do so: stages report when they have done something.
class ProgressCounters {
 public:
  using Observer = std::function<void(const Progress&)>;

  explicit ProgressCounters(Observer observer = nullptr) : observer_(std::move(observer)) {}

  void Add(int64_t Progress::*field, int64_t count) {
    std::atomic_ref<int64_t>(values_.*field).fetch_add(count, std::memory_order_relaxed);
  }
  Progress Snapshot() const;

  // The observer may be called by several threads at once; it decides how often it shows something.
  void Report() const {
    if (observer_) observer_(Snapshot());
  }

 private:
  mutable Progress values_;
  Observer observer_;
};

}  // namespace platen
