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

// A text that may be a loop is not helped along.
// A text that repeats itself would be looked up for ever.
bool NgramLookup::Allowed(const Sequence& sequence) {
  return sequence.request.drafting.allows(DrafterChoice::kNgram) && !sequence.repetition.suspect();
}

bool NgramLookup::CanPropose(const Sequence& sequence) const {
  return Allowed(sequence) && FindNgram(DecidedTokens(sequence)).has_value();
}

// Behind the end of the text its drafts go on, so that a short unit can be drafted many times over.
TokenId TokenBehind(std::span<const TokenId> said, const NgramMatch& match,
                    std::span<const TokenId> drafts, size_t place) {
  const size_t at = static_cast<size_t>(match.end) + place;
  return at < said.size() ? said[at] : drafts[at - said.size()];
}

size_t NgramLookup::BinOf(int match_length) {
  return match_length >= kLongestMatch ? 2 : match_length >= 5 ? 1 : 0;
}

double NgramLookup::Chance(int match_length) const {
  const Seen& seen = seen_[BinOf(match_length)];
  return seen.right / seen.examined;
}

void NgramLookup::Guess(Proposal& p, const NgramMatch& match) const {
  p.match_length = match.length;
  p.guess = TokenBehind(DecidedTokens(*p.sequence), match, {}, 0);
  p.guess_place = p.sequence->tokens.size();
  p.lookup_from = p.planned;
}

void NgramLookup::Fill(Proposal& p, const NgramMatch& match, const DraftLimits& limits) const {
  const std::span<const TokenId> said = DecidedTokens(*p.sequence);
  const auto chance = static_cast<float>(Chance(match.length));
  p.lookup_from = static_cast<int>(p.drafts.size());
  while (static_cast<int>(p.drafts.size()) < p.planned) {
    p.drafts.push_back(TokenBehind(said, match, p.drafts, p.drafts.size()));
    p.probabilities.push_back(chance);
    // Certain, where drafts are judged by what they were drawn from.
    if (!p.distributions.empty()) p.distributions.push_back({{p.drafts.back()}, {1.0}});
    if (p.sequence->IsStop(p.drafts.back())) return;
    if (p.unsure = !limits.GoOn(p.probabilities); p.unsure) return;
  }
}

void NgramLookup::Propose(std::span<Proposal> proposals, const DraftLimits& limits, DraftCosts&) {
  for (Proposal& p : proposals) {
    if (p.planned == 0 || !Allowed(*p.sequence)) continue;
    const auto match = FindNgram(DecidedTokens(*p.sequence));
    if (!match) continue;
    Guess(p, *match);
    Fill(p, *match, limits);
  }
}

// Of a guess that was not drafted, too: the next token has come.
void NgramLookup::Learn(const Proposal& p, int accepted) {
  if (p.match_length == 0) return;
  Seen& seen = seen_[BinOf(p.match_length)];
  const auto count = [&](bool right) {
    seen.examined = kMemory * seen.examined + 1;
    seen.right = kMemory * seen.right + (right ? 1 : 0);
  };
  const std::vector<TokenId>& tokens = p.sequence->tokens;
  if (p.guess_place < tokens.size()) count(tokens[p.guess_place] == p.guess);
  const int examined = std::min(static_cast<int>(p.drafts.size()), accepted + 1);
  for (int j = std::max(p.lookup_from, 1); j < examined; ++j) count(j < accepted);
}

}  // namespace platen
