#include "bench/oracle_drafter.h"

#include <utility>

namespace platen::bench {
namespace {

// Uniform in [0, 1), from splitmix64.
double Chance(uint64_t sequence, uint64_t place) {
  uint64_t z = (sequence << 32) + place + 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  z ^= z >> 31;
  return static_cast<double>(z >> 11) * 0x1p-53;
}

}  // namespace

OracleDrafter::OracleDrafter(std::unique_ptr<Drafter> inner, std::vector<TokenId> answer,
                             double acceptance)
    : inner_(std::move(inner)), answer_(std::move(answer)), acceptance_(acceptance) {}

void OracleDrafter::Observe(std::span<Sequence* const> sequences, const RowBatch& batch,
                            ConstMatView hidden, bool warm_up) {
  inner_->Observe(sequences, batch, hidden, warm_up);
}

bool OracleDrafter::CanPropose(const Sequence& sequence) const {
  return inner_->CanPropose(sequence);
}

TokenId OracleDrafter::DraftAt(const Sequence& sequence, int64_t place) const {
  if (place >= std::ssize(answer_)) return 0;
  const TokenId right = answer_[static_cast<size_t>(place)];
  const auto id = static_cast<uint64_t>(sequence.id);
  return Chance(id, static_cast<uint64_t>(place)) < acceptance_ ? right : (right == 0 ? 1 : 0);
}

// The inner drafter's probabilities mean nothing here, so a chain ends where the oracle's say so.
void OracleDrafter::Propose(std::span<Proposal> proposals, const DraftLimits& limits,
                            DraftCosts& costs) {
  std::vector<float> chances;
  for (Proposal& p : proposals) {
    chances.clear();
    int depth = 0;
    while (depth < p.planned) {
      chances.push_back(static_cast<float>(acceptance_));
      ++depth;
      if (!limits.GoOn(chances)) break;
    }
    p.planned = depth;
  }
  inner_->Propose(proposals, {}, costs);
  for (Proposal& p : proposals) {
    for (size_t j = 0; j < p.drafts.size(); ++j) {
      p.drafts[j] = DraftAt(*p.sequence, p.sequence->num_decided() + static_cast<int64_t>(j));
      p.probabilities[j] = static_cast<float>(acceptance_);
    }
  }
}

void OracleDrafter::Commit(const Sequence& sequence, ConstMatView hidden) {
  inner_->Commit(sequence, hidden);
}

void OracleDrafter::Forget(SequenceId sequence) noexcept { inner_->Forget(sequence); }

}  // namespace platen::bench
