#include "model/engine/drafters/ngram_lookup.h"

#include <algorithm>

namespace platen {
namespace {

constexpr double kMemory = 0.99;  // per draft

}  // namespace

std::optional<NgramMatch> FindNgram(std::span<const TokenId> tokens) {
  const auto n = static_cast<int64_t>(tokens.size());
  if (n <= kShortestMatch) return std::nullopt;
  const TokenId* const last = tokens.data() + n - 1;
  NgramMatch best;
  // A match ends before the newest token.
  for (int64_t end = n - 1; end >= kShortestMatch; --end) {
    const TokenId* const at = tokens.data() + end - 1;
    if (at[0] != last[0] || at[-1] != last[-1]) continue;
    int length = 2;
    while (length < kLongestMatch && length < end && at[-length] == last[-length]) ++length;
    if (length > best.length) best = {end, length};
    if (length == kLongestMatch) break;
  }
  return best.length >= kShortestMatch ? std::optional(best) : std::nullopt;
}

std::span<const TokenId> DecidedTokens(const Sequence& sequence) {
  return std::span(sequence.tokens).subspan(static_cast<size_t>(sequence.prompt_len()));
}

bool NgramLookup::CanPropose(const Sequence& sequence) const {
  return sequence.num_decided() > kShortestMatch;
}

size_t NgramLookup::BinOf(int match_length) {
  return match_length >= kLongestMatch ? 2 : match_length >= 5 ? 1 : 0;
}

double NgramLookup::Chance(int match_length) const {
  const Seen& seen = seen_[BinOf(match_length)];
  return seen.right / seen.examined;
}

// Behind the end of the text its drafts go on, so that a short unit can be drafted many times over.
void NgramLookup::Fill(Proposal& p, const NgramMatch& match, const DraftLimits& limits) const {
  const std::span<const TokenId> said = DecidedTokens(*p.sequence);
  const auto chance = static_cast<float>(Chance(match.length));
  p.match_length = match.length;
  for (auto place = static_cast<size_t>(match.end); static_cast<int>(p.drafts.size()) < p.planned;
       ++place) {
    const TokenId next = place < said.size() ? said[place] : p.drafts[place - said.size()];
    p.drafts.push_back(next);
    p.probabilities.push_back(chance);
    if (p.sequence->IsStop(next) || !limits.GoOn(p.probabilities)) return;
  }
}

void NgramLookup::Propose(std::span<Proposal> proposals, const DraftLimits& limits, DraftCosts&) {
  for (Proposal& p : proposals) {
    if (p.planned == 0 || !CanPropose(*p.sequence)) continue;
    p.lookup_from = 0;
    if (const auto match = FindNgram(DecidedTokens(*p.sequence))) Fill(p, *match, limits);
  }
}

void NgramLookup::Learn(const Proposal& p, int accepted) {
  if (p.match_length == 0) return;
  Seen& seen = seen_[BinOf(p.match_length)];
  const int examined = std::min(static_cast<int>(p.drafts.size()), accepted + 1);
  for (int j = p.lookup_from; j < examined; ++j) {
    seen.examined = kMemory * seen.examined + 1;
    seen.right = kMemory * seen.right + (j < accepted ? 1 : 0);
  }
}

}  // namespace platen
