// One request on its way through the engine.
//
// Lengths are the only truth (P = prompt rows, E = decided tokens):
//   tokens.size() == P + E;  while decoding, cache_len == P + E - 1: all but the newest decided
//   token (the anchor) are in the target's cache. A preempted sequence keeps its tokens and has
//   cache_len == 0 and no blocks; prefilling it again puts the same rows back.
// Cache rows at or beyond a length hold garbage: rolling back is not touching anything.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/engine/repetition_guard.h"
#include "model/engine/request.h"
#include "model/engine/sampler.h"
#include "model/families/prompt.h"
#include "model/ops/kv_cache.h"
#include "model/ops/tensor.h"

namespace platen {

// Names a sequence of one engine; never used twice.
enum class SequenceId : uint64_t {};

// How drafting goes for one sequence; decided text does not depend on it.
struct DraftHealth {
  int faults = 0;     // times its drafting failed
  int fruitless = 0;  // rounds in a row without an accepted draft
  int resting = 0;    // rounds it still decodes without drafts
  int rest = 0;       // rounds of its last rest
  bool off = false;   // for good
};

struct Sequence {
  SequenceId id = {};
  Request request;
  PromptInput prompt;
  Mat image_embeddings;       // [image tokens, D], after EncodeImages
  int max_new_tokens = 0;     // resolved limit, >= 1
  std::vector<TokenId> stop;  // resolved; empty: none
  int known_ids = 0;          // of the tokenizer

  std::vector<TokenId> tokens;  // prompt ids, then decided tokens
  int64_t cache_len = 0;
  BlockTable blocks;
  std::vector<TokenId> seen;  // distinct ids of `tokens`, if a repetition penalty needs them
  RepetitionGuard repetition;

  DraftHealth drafting;
  bool finished = false;
  SequenceResult result;

  int64_t prompt_len() const { return static_cast<int64_t>(prompt.input_ids.size()); }
  int64_t num_decided() const { return static_cast<int64_t>(tokens.size()) - prompt_len(); }
  // Rows the sequence may write at worst: the prompt, and the answer without its last token, which
  // is decided and never read. Drafts do not count: none is made that the limit on tokens would not
  // let stand, and whether a request is taken must not depend on speculation.
  int64_t worst_case_rows() const { return prompt_len() + max_new_tokens - 1; }
  // Rows that a prefill puts into the cache: the prompt, and what was decided before a preemption.
  int64_t num_prefill_rows() const {
    return static_cast<int64_t>(tokens.size()) - (num_decided() > 0 ? 1 : 0);
  }
  // Where the next token to decide stands, for the sampler. The drafts are the caller's.
  TokenContext NextToken() const {
    return {.seen = seen,
            .drafts = {},
            .banned = stop,
            .banned_places = request.min_new_tokens,
            .place = num_decided(),
            .known_ids = known_ids};
  }
  bool IsStop(TokenId token) const {
    return std::find(stop.begin(), stop.end(), token) != stop.end();
  }
  // Rope position of row i on axis T, H or W.
  int32_t RopePosition(int64_t row, int axis) const {
    return row < prompt_len()
               ? prompt.positions[static_cast<size_t>(axis)][static_cast<size_t>(row)]
               : static_cast<int32_t>(row) + prompt.rope_delta;
  }

  // Back to the prompt: nothing decided, nothing in the cache. Blocks and embeddings stay.
  void Restart();
  // Room for all tokens it may decide, so that deciding one cannot fail.
  void ReserveTokens();
  // Appends one decided token and ends the sequence if it is a stop token or the last of the limit:
  // false then. What else may end it: endings.h.
  bool Decide(TokenId token, float probability);
  void Finish(FinishReason reason);
  void Fail(const std::string& why);

 private:
  void Remember(TokenId id);
};

// Throws std::logic_error naming the broken rule if the lengths above do not hold. For tests and
// debug builds.
void CheckInvariants(const Sequence& sequence, const KvPool& pool);

}  // namespace platen
