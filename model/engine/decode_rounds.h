// The decode stage of the engine: rounds of draft, verify, accept and commit over all live
// sequences, in one ragged batch, and the blocks they need as they grow.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/engine/answer_lengths.h"
#include "model/engine/draft_planner.h"
#include "model/engine/engine_options.h"
#include "model/engine/engine_stats.h"
#include "model/engine/target_pass.h"

namespace platen {

// One call at a time, but for Release, OnDraftFault and drafts_pay. What it is made of outlives it.
class DecodeRounds {
 public:
  // `drafter` nullptr: plain decoding.
  DecodeRounds(const Model& model, const EngineOptions& options, KvPool& pool, Drafter* drafter,
               AnswerLengths& lengths, EngineCounters& counters);

  void Add(std::unique_ptr<Sequence> sequence);
  std::vector<std::unique_ptr<Sequence>> Step();
  std::vector<std::unique_ptr<Sequence>> TakePreempted();
  std::unique_ptr<Sequence> Cancel(SequenceId sequence);
  std::vector<std::unique_ptr<Sequence>> Reset() noexcept;
  size_t live() const { return live_.size(); }

  // Gives back what the sequence holds. Thread-safe for different sequences.
  void Release(Sequence& s) noexcept;
  // The drafter failed for the sequence: it rests, and after some failures its drafting ends; so
  // does everybody's after many. From the stage that has the sequence.
  void OnDraftFault(Sequence& s, const std::string& reason) noexcept;
  // Whether drafts were worth making in the last round. Thread-safe.
  bool drafts_pay() const { return drafts_pay_; }

 private:
  void MakeRoom();
  bool Grow(Sequence& s, int64_t rows);
  void Preempt(size_t place);
  int PlannedDrafts(Sequence& s);
  void Plan();
  void ReserveForDrafts();
  void Draft(RoundCosts& costs);
  void DraftAlone(Proposal& p);
  void DropDraftsThatDoNotPay();
  void RunRound();
  void VerifyAlone(Proposal& p);
  void AcceptAll(std::span<Proposal> proposals, bool last_try);
  void Accept(Proposal& p, size_t place);
  void Commit(Proposal& p, int accepted, ConstMatView hidden);
  void Count(const Proposal& p, int accepted, int64_t decided);
  bool drafting_is_off() const;
  void NoteFault(const std::string& reason, bool of_a_sequence) noexcept;
  std::span<Proposal> round() { return std::span(proposals_).first(num_proposals_); }

  const EngineOptions& options_;
  const Tokenizer& tokenizer_;
  KvPool& pool_;
  Drafter* drafter_;
  AnswerLengths& lengths_;
  EngineCounters& counters_;

  DraftPlanner planner_;
  DraftLimits chain_limits_, verify_limits_;
  std::atomic<bool> drafts_pay_ = true;
  std::atomic<int> faults_ = 0;
  VerifyPass verify_;
  std::vector<std::unique_ptr<Sequence>> live_;  // oldest first
  std::vector<std::unique_ptr<Sequence>> preempted_;
  std::vector<Proposal> proposals_;  // more than the round's, to keep their memory
  size_t num_proposals_ = 0;
};

}  // namespace platen
