// What an engine did since it was made: sums, from which reports make their ratios.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace platen {

// Position j of `drafted_at` counts rounds of sequences that had a draft j+1, `examined_at` those
// of them whose drafts 1..j were all accepted, `accepted_at` those whose draft j+1 was too.
struct EngineStats {
  // Target passes by their rows: 1, 2, 3-4, 5-8, ..., beyond 256.
  static constexpr size_t kRowBuckets = 10;

  int64_t steps = 0;           // target passes
  int64_t rows = 0;            // target rows in those passes
  int64_t rounds = 0;          // sequence-rounds: sum over steps of live sequences
  int64_t drafted_rounds = 0;  // of them, those with drafts
  int64_t decoded_tokens = 0;  // tokens decided in rounds (the first token comes from prefill)
  std::vector<int64_t> drafted_at;
  std::vector<int64_t> examined_at;
  std::vector<int64_t> accepted_at;
  std::array<int64_t, kRowBuckets> steps_by_rows = {};
  double draft_s = 0;         // wall time of drafting
  double verify_s = 0;        // and of the target passes of rounds
  int64_t unverified = 0;     // drafts that were made and not verified: they did not pay
  int64_t failed_drafts = 0;  // times drafting failed over a batch and was tried for each alone
  int64_t draft_faults = 0;   // times drafting failed for a sequence
  std::vector<std::pair<std::string, int64_t>> fault_reasons;  // a few distinct ones, how often
  int64_t failed_passes = 0;                                   // target passes that failed
  int64_t retried = 0;          // sequence-rounds that were verified again alone after a failure
  int64_t preemptions = 0;      // sequences that gave their blocks to others
  int64_t recomputed_rows = 0;  // that were prefilled again for it
  int64_t short_of_blocks = 0;  // drafts that were not made because no block was free
  std::string speculation;      // "on", or "off: " and why
  std::string draft_head_given_up;  // why drafts of a file were given up; empty: they were not
  int64_t kv_blocks_total = 0;
  int64_t kv_blocks_free = 0;
  int64_t kv_blocks_peak = 0;

  static size_t RowBucket(int64_t rows) {
    size_t bucket = 0;
    while (bucket + 1 < kRowBuckets && rows > int64_t{1} << bucket) ++bucket;
    return bucket;
  }
};

// The sums while they grow. Thread-safe.
class EngineCounters {
 public:
  template <typename Change>
  void Update(const Change& change) {
    const std::lock_guard lock(mutex_);
    change(stats_);
  }
  EngineStats Copy() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  mutable std::mutex mutex_;
  EngineStats stats_;
};

}  // namespace platen
