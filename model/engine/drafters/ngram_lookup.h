// Drafts from what the sequence has said already: the tokens that followed the last ones the last
// time they occurred. Tables repeat their tags and units, forms their labels.
//
// The newest tokens are looked for by reading the sequence: an index would save a microsecond of a
// step that takes milliseconds, and would have to be kept.
#pragma once

#include <array>
#include <mutex>
#include <optional>

#include "model/engine/drafters/drafter.h"

namespace platen {

// Where the newest tokens of a text occur before: `length` of them, ending at `end` (exclusive).
struct NgramMatch {
  int64_t end = 0;
  int length = 0;
};

inline constexpr int kShortestMatch = 3;
inline constexpr int kLongestMatch = 8;

// The longest match of 3 to 8 tokens, the latest of several.
std::optional<NgramMatch> FindNgram(std::span<const TokenId> tokens);

// The token that a match says at `place` behind the text, after `drafts` of the places before.
TokenId TokenBehind(std::span<const TokenId> said, const NgramMatch& match,
                    std::span<const TokenId> drafts, size_t place);

class NgramLookup final : public Drafter {
 public:
  std::string_view name() const override { return "ngram"; }
  void Observe(std::span<Sequence* const>, const RowBatch&, ConstMatView, bool) override {}
  bool CanPropose(const Sequence& sequence) const override;
  // Whether drafts may be looked up for the sequence at present.
  static bool Allowed(const Sequence& sequence);
  void Propose(std::span<Proposal> proposals, const DraftLimits& limits,
               DraftCosts& costs) override;
  void Commit(const Sequence&, ConstMatView) override {}
  void Learn(const Proposal& proposal, int accepted) override;
  void Forget(SequenceId) noexcept override {}

  // Chance that a draft behind a match of this length is right, if those before it are: learnt.
  double Chance(int match_length) const;
  // Notes what the match says, to learn from it.
  void Guess(Proposal& proposal, const NgramMatch& match) const;
  // Adds drafts to a proposal, behind those it has, up to `planned`.
  void Fill(Proposal& proposal, const NgramMatch& match, const DraftLimits& limits) const;

 private:
  struct Seen {
    double examined, right;  // both forget slowly
  };
  static size_t BinOf(int match_length);

  // Of matches of 3 and 4, 5 to 7, and 8 tokens; what is believed at first.
  std::array<Seen, 3> seen_ = {{{8, 4}, {8, 5.6}, {8, 6.8}}};
};

// What the answer says so far; drafts are looked for in it.
std::span<const TokenId> DecidedTokens(const Sequence& sequence);

}  // namespace platen
