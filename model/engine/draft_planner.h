// How many drafts a round should make: as many as pay on this machine with this batch.
//
// A round over B live sequences with k drafts each costs one target pass over B (k + 1) rows, one
// pass of the draft layer over the rows decided last and k - 1 passes over B rows, and decides
// B (1 + P_1 + .. + P_k) tokens, where P_j is the chance that drafts 1..j are all right. While few
// sequences are live the target pass streams weights, extra rows are nearly free and drafts pay;
// with a full batch every row costs arithmetic and they may not. The planner measures the costs and
// the acceptance while it runs and picks the k with the most tokens per second. It needs no table
// and no start-up measurement.
//
// Its choice depends on time, and that is harmless: the number of drafts cannot change a decided
// token (docs/DECODING.md), only the speed. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

// How often a draft is right to which its drafter gave a probability, learnt while drafts are
// verified.
class DraftCalibration {
 public:
  void Add(float probability, bool accepted);
  // Chance that a draft of this probability is right.
  double Chance(float probability) const;

 private:
  static constexpr size_t kBins = 16;
  struct Bin {
    double examined = 0, accepted = 0;  // both forget slowly
  };
  static size_t BinOf(float probability);
  std::array<Bin, kBins> bins_;
};

// When a chain of drafts is not worth continuing.
struct DraftLimits {
  // A further draft is worth its passes as long as the chance that all drafts so far are right is
  // at least this; 0: always.
  double least_chance = 0;
  const DraftCalibration* calibration = nullptr;  // not null if least_chance > 0

  // Chance that drafts of these probabilities are all right.
  double ChanceOf(std::span<const float> probabilities) const;
  bool GoOn(std::span<const float> probabilities) const {
    return least_chance <= 0 || ChanceOf(probabilities) >= least_chance;
  }
};

// What drafting cost in one round. Extending: passes over rows decided since the last one, which
// give the first draft; chaining: passes over one row of each sequence, one further draft each.
struct DraftCosts {
  int64_t extend_rows = 0;
  double extend_seconds = 0;
  int64_t chain_passes = 0;
  int64_t chain_rows = 0;  // in all passes together
  double chain_seconds = 0;
};

// What one round did, for the planner.
struct RoundCosts {
  DraftCosts draft;
  int64_t verify_rows = 0;
  double verify_seconds = 0;
};

class DraftPlanner {
 public:
  // max_drafts >= 0.
  explicit DraftPlanner(int max_drafts);

  // Drafts per sequence for the next round over `live` >= 1 sequences, at most `most`. Costs that
  // are not known yet are tried out first.
  int Choose(int64_t live, int most);

  // After Choose said `drafts`: one sequence that should draft more, now and then, so that a change
  // is noticed. In most rounds none, and never where further drafts would not pay even if they were
  // right every time. Where nobody drafts it makes one draft for each sequence, as far as it may:
  // then the target pass has the rows of a round in which all make one.
  struct ProbedSequence {
    int64_t place = -1;  // 0 .. live - 1; -1: none
    int drafts = 0;      // more than the others
  };
  ProbedSequence Probe(int64_t live, int drafts);

  // For a round of `live` sequences with up to `drafts` drafts each: when a chain should end
  // (draft and row are still to be paid), and when a draft that is made already is not worth its
  // row of the target pass.
  DraftLimits ChainLimits(int64_t live, int drafts) const;
  DraftLimits VerifyLimits(int64_t live, int drafts) const;

  void AddCosts(const RoundCosts& costs);
  // One sequence had drafts of these probabilities, of which the first `accepted` were right.
  // unsure: a limit of ours ended them, so where more was planned, no more came of it.
  void AddAcceptance(std::span<const float> probabilities, int drafted, int accepted,
                     bool unsure = false);

  // Drafts are made by somebody else from now on.
  void ForgetAcceptance();

  // Chance that drafts 1..j are made, verified and all right where so many are planned, j = 1 ..
  // max_drafts.
  double PrefixChance(int j) const;

 private:
  bool TryOut(int64_t rows);
  int Retry(int64_t live, int most);
  double AtUsualPace(const RoundCosts& costs);
  double TokensPerRound(int drafts) const;
  double DraftSeconds(int64_t live, int drafts) const;
  double RoundSeconds(int64_t live, int drafts) const;
  double TokensPerSecond(int64_t live, int drafts) const;
  bool CouldPay(int64_t live, int drafts) const;
  DraftLimits LimitsFor(int64_t live, int drafts, double seconds) const;
  double RowSeconds(int64_t live, int drafts) const;

  int max_drafts_;
  PassCost verify_;
  PassCost extend_;          // by rows
  PassCost chain_;           // by sequences
  std::vector<bool> tried_;  // buckets of verify_ that were asked for
  struct Position {
    double examined, accepted;  // both forget slowly
  };
  std::vector<Position> positions_;
  DraftCalibration calibration_;
  int current_ = 0;
  double pace_ = 1;   // seconds of passes as multiples of what is known of them, of late
  double saved_ = 0;  // time that retries may cost, in rounds
  int64_t rounds_since_retry_ = 0;
  bool retry_more_ = false;  // the next one, of more drafts than at present
  int64_t rounds_since_probe_ = 0;
  int64_t next_probe_ = 0;  // round robin over sequences
};

}  // namespace platen
