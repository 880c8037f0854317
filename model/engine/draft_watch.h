// Whether drafts of a file are still as good as the model's own would be: a watch over a run.
//
// The file says how often the model's own drafts 1 .. j of a round were all right where both were
// judged, A_j. A round of k drafts decides 1 + A_1 + .. + A_k tokens then. Of rounds that are
// drafted as planned (Proposal::whole) the watch keeps the last few hundred and compares what they
// decided with what the model's own would have. Harder pages look the same as worse drafts to it;
// either way only speed is at stake.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace platen {

// Not thread-safe.
class DraftWatch {
 public:
  // `own` [n]: A_1 .. A_n, n >= 1, each in [0, 1], none larger than the one before.
  explicit DraftWatch(std::vector<double> own);

  // Whether the round of a sequence that has had `rounds` should be watched: all at first, then
  // every eighth, which is a window of about 2,000 rounds.
  bool Wants(int64_t rounds) const;

  // A round that planned so many drafts, of which the first `accepted` were right.
  void Add(int planned, int accepted);

  // Below what the model's own give by more than 2 % and more than four standard errors.
  bool worse() const;

  int64_t watched() const { return watched_; }
  double tokens_per_round() const;  // of the rounds that are kept
  double own_tokens_per_round() const;

 private:
  static constexpr int64_t kFewest = 16;
  static constexpr size_t kKept = 250;
  static constexpr int64_t kAllAtFirst = 32;
  static constexpr int64_t kOneOf = 8;
  static constexpr double kMargin = 0.02;
  static constexpr double kErrors = 4;

  struct Round {
    int accepted = 0;
    double expected = 0;  // to be accepted, of the model's own
    double variance = 0;
  };

  void Count(const Round& round, int times);

  const std::vector<double> own_;
  std::deque<Round> rounds_;
  Round sum_;
  int64_t watched_ = 0;
};

}  // namespace platen
