#include "model/engine/decode_rounds.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "model/engine/endings.h"
#include "model/support/attempt.h"
#include "model/support/clock.h"

namespace platen {
namespace {

// A sequence whose drafting failed, or was wrong throughout, decodes plainly for so many rounds,
// and for longer each time it happens again.
constexpr int kFirstRest = 8;
constexpr int kLongestRest = 64;
constexpr int kFruitlessRounds = 3;
constexpr int kFaultsOfASequence = 3;  // then it drafts no more
constexpr int kFaultsOfARun = 10;      // then nobody does
constexpr size_t kFaultReasons = 8;    // that are kept apart

void Rest(DraftHealth& health) {
  health.rest = health.rest == 0 ? kFirstRest : std::min(kLongestRest, 2 * health.rest);
  health.resting = health.rest;
  health.fruitless = kFruitlessRounds - 1;  // one more round is enough for the next rest
}

int64_t RoomOf(const Sequence& s, const KvPool& pool) {
  return static_cast<int64_t>(s.blocks.size()) * pool.block_tokens();
}

}  // namespace

DecodeRounds::DecodeRounds(const Model& model, const EngineOptions& options, KvPool& pool,
                           Drafter* drafter, AnswerLengths& lengths, EngineCounters& counters)
    : options_(options),
      tokenizer_(model.tokenizer()),
      pool_(pool),
      drafter_(drafter),
      lengths_(lengths),
      counters_(counters),
      planner_(drafter != nullptr ? options.draft_length : 0),
      verify_(model, pool, options.instruments.fault_point) {}

// ----------------------------------------------------------------- sequences that come and go

void DecodeRounds::Add(std::unique_ptr<Sequence> sequence) {
  try {
    live_.reserve(live_.size() + 1);
  } catch (...) {  // no memory: the sequence is still ours, and dropped
    Release(*sequence);
    throw;
  }
  const auto place = std::upper_bound(live_.begin(), live_.end(), sequence->id,
                                      [](SequenceId id, const auto& s) { return id < s->id; });
  live_.insert(place, std::move(sequence));
}

void DecodeRounds::Release(Sequence& s) noexcept {
  pool_.Release(s.blocks);
  if (drafter_ != nullptr) drafter_->Forget(s.id);
}

std::vector<std::unique_ptr<Sequence>> DecodeRounds::TakePreempted() {
  return std::exchange(preempted_, {});
}

std::unique_ptr<Sequence> DecodeRounds::Cancel(SequenceId sequence) {
  const auto found =
      std::find_if(live_.begin(), live_.end(), [&](const auto& s) { return s->id == sequence; });
  if (found == live_.end()) return nullptr;
  std::unique_ptr<Sequence> cancelled = std::move(*found);
  live_.erase(found);
  Release(*cancelled);
  cancelled->Finish(FinishReason::kCancelled);
  return cancelled;
}

std::vector<std::unique_ptr<Sequence>> DecodeRounds::Reset() noexcept {
  for (const auto& s : live_) Release(*s);
  for (auto& s : preempted_) live_.push_back(std::move(s));
  preempted_.clear();
  return std::exchange(live_, {});
}

std::vector<std::unique_ptr<Sequence>> DecodeRounds::Step() {
  std::vector<std::unique_ptr<Sequence>> finished;
  preempted_.reserve(preempted_.size() + live_.size());  // what gives way must arrive
  MakeRoom();
  Plan();
  if (num_proposals_ > 0) RunRound();
  const auto is_finished = [](const auto& s) { return s->finished; };
  const auto count = std::count_if(live_.begin(), live_.end(), is_finished);
  if (count == 0) return finished;
  finished.reserve(static_cast<size_t>(count));
  // Nothing throws from here on, so that no sequence is lost on its way out.
  for (auto& s : live_) {
    if (!s->finished) continue;
    Release(*s);
    const FinishReason reason = s->result.finish;
    if (reason == FinishReason::kStop || reason == FinishReason::kLength) {
      lengths_.Add(s->request.length_class, s->result.image_tokens, s->num_decided());
    }
    finished.push_back(std::move(s));
  }
  std::erase(live_, nullptr);
  return finished;
}

// ------------------------------------------------------------------------------------- memory

bool DecodeRounds::Grow(Sequence& s, int64_t rows) {
  bool grown = false;
  const std::string error = Attempt([&] {
    if (options_.instruments.fault_point) options_.instruments.fault_point("grow", {});
    grown = pool_.Take(pool_.BlocksFor(rows), s.blocks);
  });
  return grown && error.empty();
}

// The row of its newest token for every sequence, the oldest first. Where no block is free, the
// youngest gives its blocks away and is prefilled again later: it has least to lose, and the oldest
// always goes on, so that all come to their end.
void DecodeRounds::MakeRoom() {
  for (const auto& s : live_) {
    if (s->finished) pool_.Release(s->blocks);  // at its first token, or by its caller
  }
  for (size_t i = 0; i < live_.size(); ++i) {
    Sequence& s = *live_[i];
    const int64_t rows = s.cache_len + 1;
    if (s.finished || RoomOf(s, pool_) >= rows || Grow(s, rows)) continue;
    bool grown = false;
    while (!grown) {
      size_t youngest = live_.size() - 1;
      while (live_[youngest]->finished) --youngest;  // s has not: it is found at the latest
      if (youngest == i) break;
      Attempt([&] {
        grown = pool_.TakeFrom(live_[youngest]->blocks, pool_.BlocksFor(rows), s.blocks);
      });
      Preempt(youngest);
    }
    if (!grown) Preempt(i--);
  }
}

void DecodeRounds::Preempt(size_t place) {
  std::unique_ptr<Sequence> s = std::move(live_[place]);
  live_.erase(live_.begin() + static_cast<ptrdiff_t>(place));
  Release(*s);
  counters_.Update([&](EngineStats& stats) {
    ++stats.preemptions;
    stats.recomputed_rows += s->cache_len;
  });
  s->cache_len = 0;
  ++s->result.stats.preemptions;
  preempted_.push_back(std::move(s));
}

// --------------------------------------------------------------------------------------- plan

int DecodeRounds::PlannedDrafts(Sequence& s) {
  if (drafter_ == nullptr || drafting_is_off() || s.drafting.off || !drafter_->CanPropose(s)) {
    return 0;
  }
  if (s.drafting.resting > 0) {
    --s.drafting.resting;
    return 0;
  }
  // The round decides one token more than it accepts.
  const int64_t useful = s.max_new_tokens - s.num_decided() - 1;
  // Rows behind the anchor's that have a place in the blocks the sequence may take at worst.
  const int64_t room =
      pool_.BlocksFor(s.worst_case_rows()) * pool_.block_tokens() - s.cache_len - 1;
  assert(useful <= room);
  const int64_t most = options_.instruments.full_drafts ? room : useful;
  const int wanted = s.request.drafting.length;
  const int longest = wanted < 0 ? options_.draft_length : std::min(wanted, options_.draft_length);
  return static_cast<int>(std::clamp<int64_t>(most, 0, longest));
}

void DecodeRounds::Plan() {
  num_proposals_ = 0;
  int most = 0;
  for (const auto& s : live_) {
    if (s->finished) continue;
    if (num_proposals_ == proposals_.size()) proposals_.emplace_back();
    Proposal& p = proposals_[num_proposals_++];
    p.Clear();
    p.sequence = s.get();
    p.planned = PlannedDrafts(*s);
    most = std::max(most, p.planned);
  }
  chain_limits_ = verify_limits_ = {};
  if (most == 0) return;
  if (options_.adaptive_drafts) {
    const auto count = static_cast<int64_t>(num_proposals_);
    const int drafts = planner_.Choose(count, most);
    const DraftPlanner::ProbedSequence probe = planner_.Probe(count, drafts);
    for (int64_t i = 0; i < count; ++i) {
      int& planned = proposals_[static_cast<size_t>(i)].planned;
      planned = std::min(planned, drafts + (i == probe.place ? probe.drafts : 0));
    }
    drafts_pay_ = drafts > 0;
    if (drafts > 0) {
      chain_limits_ = planner_.ChainLimits(count, drafts);
      verify_limits_ = planner_.VerifyLimits(count, drafts);
    }
  }
  ReserveForDrafts();
  for (Proposal& p : round()) p.whole = p.planned > 0 && drafter_->WantsWhole(*p.sequence);
}

// Drafts take what blocks are free; nobody gives way for them.
void DecodeRounds::ReserveForDrafts() {
  int64_t missed = 0;
  for (Proposal& p : round()) {
    if (p.planned == 0) continue;
    Sequence& s = *p.sequence;
    const int64_t rows = s.cache_len + 1 + p.planned;
    if (RoomOf(s, pool_) >= rows || Grow(s, rows)) continue;
    const auto room = static_cast<int>(RoomOf(s, pool_) - s.cache_len - 1);
    missed += p.planned - room;
    p.planned = room;
  }
  if (missed == 0) return;
  counters_.Update([&](EngineStats& stats) { stats.short_of_blocks += missed; });
}

// -------------------------------------------------------------------------------------- draft

bool DecodeRounds::drafting_is_off() const { return faults_ >= kFaultsOfARun; }

void DecodeRounds::OnDraftFault(Sequence& s, const std::string& reason) noexcept {
  drafter_->Forget(s.id);
  Rest(s.drafting);
  s.drafting.off = ++s.drafting.faults >= kFaultsOfASequence;
  NoteFault(reason, true);
}

void DecodeRounds::NoteFault(const std::string& reason, bool of_a_sequence) noexcept {
  const bool all_off = ++faults_ >= kFaultsOfARun;
  Attempt([&] {
    counters_.Update([&](EngineStats& stats) {
      ++(of_a_sequence ? stats.draft_faults : stats.failed_drafts);
      auto& reasons = stats.fault_reasons;
      const auto known = std::find_if(reasons.begin(), reasons.end(),
                                      [&](const auto& r) { return r.first == reason; });
      if (known != reasons.end()) {
        ++known->second;
      } else if (reasons.size() < kFaultReasons) {
        reasons.emplace_back(reason, 1);
      }
      if (all_off) {
        stats.speculation = "off: drafting failed " + std::to_string(kFaultsOfARun) +
                            " times, the last time: " + reason;
      }
    });
  });
}

// A drafter that fails over the batch is asked once more for each sequence alone, so that only
// those it fails for go without.
void DecodeRounds::Draft(RoundCosts& costs) {
  const auto plans = [](const Proposal& p) { return p.planned > 0; };
  if (std::none_of(round().begin(), round().end(), plans)) return;
  const std::string error =
      Attempt([&] { drafter_->Propose(round(), chain_limits_, costs.draft); });
  for (Proposal& p : round()) {
    if (p.planned == 0) continue;
    if (!error.empty()) {
      p.Clear();
      DraftAlone(p);
    } else if (p.fault != nullptr) {
      OnDraftFault(*p.sequence, p.fault);
    }
  }
  if (error.empty()) return;
  costs.draft = {};  // not what drafting costs
  NoteFault(error, false);
}

void DecodeRounds::DraftAlone(Proposal& p) {
  DraftCosts unused;
  const std::string error =
      Attempt([&] { drafter_->Propose(std::span(&p, 1), chain_limits_, unused); });
  if (error.empty() && p.fault == nullptr) return;
  OnDraftFault(*p.sequence, p.fault != nullptr ? p.fault : error);
  p.Clear();
}

// A draft's own probability is known only when it is made.
void DecodeRounds::DropDraftsThatDoNotPay() {
  if (verify_limits_.least_chance <= 0) return;
  int64_t dropped = 0;
  for (Proposal& p : round()) {
    if (p.whole || p.probabilities.size() < p.drafts.size()) continue;  // wanted, or not known
    // A drawn draft that goes because it is unlikely would leave too many likely ones.
    if (!p.distributions.empty()) continue;
    size_t keep = 0;
    const std::span<const float> all(p.probabilities);
    while (keep < all.size() && verify_limits_.GoOn(all.first(keep + 1))) ++keep;
    if (keep == p.drafts.size()) continue;
    p.unsure = true;
    dropped += static_cast<int64_t>(p.drafts.size() - keep);
    p.drafts.resize(keep);
    p.probabilities.resize(keep);
    if (p.distributions.size() > keep) p.distributions.resize(keep);
  }
  if (dropped == 0) return;
  counters_.Update([&](EngineStats& stats) { stats.unverified += dropped; });
}

// ------------------------------------------------------------------------------ verify, accept

void DecodeRounds::RunRound() {
  RoundCosts costs;
  const int64_t start_ns = MonotonicNs();
  Draft(costs);
  DropDraftsThatDoNotPay();
  const double draft_s = SecondsSince(start_ns);
  const int64_t drafted_ns = MonotonicNs();
  const std::string error = Attempt([&] { verify_.Run(round()); });
  if (!error.empty()) {
    counters_.Update([](EngineStats& stats) { ++stats.failed_passes; });
    for (Proposal& p : round()) VerifyAlone(p);
    return;
  }
  costs.verify_seconds = SecondsSince(drafted_ns);
  costs.verify_rows = verify_.num_rows();
  counters_.Update([&](EngineStats& stats) {
    stats.draft_s += draft_s;
    stats.verify_s += costs.verify_seconds;
  });
  AcceptAll(round(), false);
  planner_.AddCosts(costs);
  if (drafter_ != nullptr && drafter_->TakeChange()) planner_.ForgetAcceptance();
}

// After a pass over all of them failed, or a row of it came to nothing: once more by itself,
// without drafts. What fails then fails for good.
void DecodeRounds::VerifyAlone(Proposal& p) {
  p.Clear();
  const std::span<Proposal> one(&p, 1);
  counters_.Update([](EngineStats& stats) { ++stats.retried; });
  const std::string error = Attempt([&] { verify_.Run(one); });
  if (!error.empty()) {
    p.sequence->Fail(error);
  } else {
    AcceptAll(one, true);
  }
}

void DecodeRounds::AcceptAll(std::span<Proposal> proposals, bool last_try) {
  const int64_t rows = verify_.num_rows();
  counters_.Update([&](EngineStats& stats) {
    ++stats.steps;
    stats.rows += rows;
    ++stats.steps_by_rows[EngineStats::RowBucket(rows)];
  });
  bool spoilt = false;
  for (size_t i = 0; i < proposals.size(); ++i) {
    Proposal& p = proposals[i];
    const bool finite = verify_.finite(i);
    if (finite) {
      Accept(p, i);
    } else if (last_try) {
      p.sequence->Fail("the model's logits are not finite at token " +
                       std::to_string(p.sequence->num_decided()));
    }
    p.retry = !finite && !p.sequence->finished;
    spoilt = spoilt || p.retry;
  }
  if (!spoilt) return;
  for (Proposal& p : proposals) {
    if (p.retry) VerifyAlone(p);
  }
}

// Decides the accepted drafts and the target's own next token, and commits their rows.
void DecodeRounds::Accept(Proposal& p, size_t place) {
  Sequence& s = *p.sequence;
  const std::span<const SampledToken> chosen = verify_.chosen(place);
  const int accepted = verify_.accepted(place);
  const int64_t cache_len = s.cache_len;
  const TokenId anchor = s.tokens.back();
  size_t decided = 0;
  for (bool more = true; more && decided <= static_cast<size_t>(accepted); ++decided) {
    more =
        s.Decide(chosen[decided].index, chosen[decided].probability) && !EndIfItMust(tokenizer_, s);
  }
  Count(p, accepted, static_cast<int64_t>(decided));
  if (!s.finished) Commit(p, accepted, verify_.hidden(place));
  if (!options_.instruments.on_round) return;
  Round round = {s.id,     cache_len, cache_len + s.prompt.rope_delta, anchor, p.drafts, {},
                 accepted, {}};
  for (const SampledToken& token : chosen) round.target_argmax.push_back(token.index);
  for (size_t j = 0; j < decided; ++j) round.emitted.push_back(chosen[j].index);
  options_.instruments.on_round(round);
}

void DecodeRounds::Commit(Proposal& p, int accepted, ConstMatView hidden) {
  Sequence& s = *p.sequence;
  if (drafter_ != nullptr && !s.drafting.off && !drafting_is_off()) {
    const std::string error = Attempt([&] {
      if (options_.instruments.fault_point) options_.instruments.fault_point("commit.drafter", {});
      drafter_->Commit(s, hidden.Rows(0, int64_t{accepted} + 1));
    });
    if (!error.empty()) OnDraftFault(s, error);
  }
  s.cache_len += int64_t{accepted} + 1;
#ifndef NDEBUG
  CheckInvariants(s, pool_);
#endif
}

void DecodeRounds::Count(const Proposal& p, int accepted, int64_t decided) {
  const auto drafted = static_cast<int>(p.drafts.size());
  RequestStats& own = p.sequence->result.stats;
  ++own.rounds;
  own.drafted += drafted;
  own.accepted += accepted;
  planner_.AddAcceptance(p.probabilities, drafted, accepted, p.unsure);
  if (drafter_ != nullptr) drafter_->Learn(p, accepted);
  if (options_.adaptive_drafts && drafted > 0) {
    DraftHealth& health = p.sequence->drafting;
    health.fruitless = accepted > 0 ? 0 : health.fruitless + 1;
    if (accepted > 0) health.rest = 0;
    if (health.fruitless >= kFruitlessRounds) Rest(health);
  }
  counters_.Update([&](EngineStats& stats) {
    ++stats.rounds;
    stats.drafted_rounds += drafted > 0 ? 1 : 0;
    stats.decoded_tokens += decided;
    for (size_t j = 0; j < p.drafts.size(); ++j) {
      ++stats.drafted_at[j];
      if (static_cast<int>(j) <= accepted) ++stats.examined_at[j];
      if (static_cast<int>(j) < accepted) ++stats.accepted_at[j];
    }
  });
}

}  // namespace platen
