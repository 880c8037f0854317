// How many drafts a round should make: as many as pay on this machine with this batch.
//
// A round over B live sequences with k drafts each costs one target pass over B (k + 1) rows and k
// passes of the draft layer over B rows, and decides B (1 + P_1 + .. + P_k) tokens, where P_j is
// the chance that drafts 1..j are all right. While few sequences are live the target pass streams
// weights, extra rows are nearly free and drafts pay; with a full batch every row costs arithmetic
// and they may not. The planner measures both costs and the acceptance while it runs and picks the
// k with the most tokens per second. It needs no table and no start-up measurement.
//
// Its choice depends on time, and that is harmless: the number of drafts cannot change a decided
// token (docs/DECODING.md), only the speed. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace platen {

// Seconds of a pass as a function of its rows, learnt from passes that were timed. Rows fall into
// buckets; between buckets the cost is interpolated, and it never falls as rows grow.
class PassCost {
 public:
  void Add(int64_t rows, double seconds);
  // Passes of about as many rows share a bucket.
  static size_t BucketOf(int64_t rows);
  // A pass of about so many rows was timed.
  bool Knows(int64_t rows) const;
  // 0 if nothing was timed at all. Beyond the largest known bucket proportional to rows, below the
  // smallest the same as there.
  double Seconds(int64_t rows) const;

 private:
  struct Bucket {
    double rows = 0;  // running means of what fell into it
    double seconds = 0;
    int64_t count = 0;
  };
  std::vector<Bucket> buckets_;
};

// What one round did, for the planner.
struct RoundCosts {
  int64_t draft_sequences = 0;  // that drafted
  int draft_steps = 0;          // passes of the draft layer
  double draft_seconds = 0;
  int64_t verify_rows = 0;
  double verify_seconds = 0;
};

class DraftPlanner {
 public:
  // max_drafts >= 0.
  explicit DraftPlanner(int max_drafts);

  // Drafts per sequence for the next round over `live` >= 1 sequences. Costs that are not known yet
  // are tried out first.
  int Choose(int64_t live);

  // When Choose says 0: the place (0 .. live - 1) of one sequence that should draft all the same,
  // now and then, so that a change of the acceptance is noticed; -1 in most rounds.
  int64_t Probe(int64_t live);

  void AddCosts(const RoundCosts& costs);
  // One sequence had `drafted` drafts of which the first `accepted` were right.
  void AddAcceptance(int drafted, int accepted);

  // Chance that drafts 1..j are all right, j = 1 .. max_drafts.
  double PrefixChance(int j) const;

 private:
  bool TryOut(int64_t rows);
  double TokensPerSecond(int64_t live, int drafts) const;

  int max_drafts_;
  PassCost verify_;
  PassCost draft_;           // one pass of the draft layer, by sequences
  std::vector<bool> tried_;  // buckets of verify_ that were asked for
  struct Position {
    double examined, accepted;  // both forget slowly
  };
  std::vector<Position> positions_;
  int current_ = 0;
  int64_t plain_rounds_ = 0;  // since the last probe
  int64_t next_probe_ = 0;    // round robin over sequences
};

}  // namespace platen
