// The decoding engine: regions go in as requests, text tokens come out, many at a time.
//
//   Prepare (any thread)  ->  EncodeImages  ->  Prefill  ->  Submit, Step, Step, ...
//
// Every round of Step is draft -> verify -> accept -> commit over all live sequences, in one ragged
// batch. Plain decoding is the same round with zero drafts. The tokens of a sequence do not depend
// on the draft length, on the other sequences, or on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/engine/acceptance.h"
#include "model/engine/drafters/drafter.h"
#include "model/engine/mtp_convention.h"
#include "model/engine/request.h"
#include "model/engine/sequence.h"
#include "model/ops/observer.h"

namespace platen {

class Model;  // weights, immutable (model/families/model.h)

// What one round did for one sequence; for `platen forward` and comparisons with the reference.
struct Round {
  SequenceId sequence = {};
  int64_t cache_len_before = 0;  // target rows in the cache
  int64_t rope_position = 0;     // of the newest decided token, row 0 of the pass
  TokenId anchor = 0;            // that token
  std::vector<TokenId> drafts;
  std::vector<TokenId> target_argmax;  // drafts.size() + 1 rows
  int accepted = 0;
  std::vector<TokenId> emitted;  // decided tokens, stop token included
};

// For tests, goldens and `platen forward`; a run needs none of it.
struct EngineInstruments {
  Observer observer;  // intermediate results of prefill and drafting
  // Called by Step after each sequence's part of a round. What it throws leaves Step, and the
  // engine can only be Reset then.
  std::function<void(const Round&)> on_round;
  MtpConvention mtp_convention;
  // Draft to the full length even where the token limit or a drafted stop token makes the rest
  // useless, as far as the blocks reach that the sequence holds anyway.
  bool full_drafts = false;
  // Makes the drafter in place of what `drafters` names.
  std::function<std::unique_ptr<Drafter>(const Model& model, KvPool& pool)> make_drafter;
};

// Who drafts: the model's own draft layer where it has one, or nobody.
enum class DrafterChoice { kAuto, kNone };

struct EngineOptions {
  int draft_length = 3;  // 0..8 drafts per round (num_speculative_tokens); 0 = plain decoding
  DrafterChoice drafters = DrafterChoice::kAuto;
  AcceptanceRule acceptance = AcceptanceRule::kGreedy;
  int64_t kv_cache_bytes = 0;  // 0: 1 GiB
  int kv_block_tokens = 32;    // tests use 16 to hit boundaries often
  // Draft as many tokens as pay just now, at most draft_length; see draft_planner.h. Changes the
  // speed, never a token.
  bool adaptive_drafts = false;
  EngineInstruments instruments;
};

// Sums since the engine was made. Position j of `accepted_at` counts rounds whose drafts 1..j+1
// were all accepted; `drafted_at` counts rounds that had a draft j+1.
struct EngineStats {
  int64_t steps = 0;           // target passes
  int64_t rows = 0;            // target rows in those passes
  int64_t rounds = 0;          // sequence-rounds: sum over steps of live sequences
  int64_t decoded_tokens = 0;  // tokens decided in rounds (the first token comes from prefill)
  std::vector<int64_t> drafted_at;
  std::vector<int64_t> accepted_at;
  int64_t draft_faults = 0;  // sequences whose drafting ended because a drafter failed
  int64_t retried = 0;       // sequence-rounds that were verified again alone after a failure
  int64_t kv_blocks_total = 0;
  int64_t kv_blocks_free = 0;
  int64_t kv_blocks_peak = 0;
};

// Thread-safety: Prepare and TryReserve from any thread. EncodeImages, Prefill and the group of
// Submit, Step, Cancel and Reset are three stages: each is called by one thread at a time, and the
// three may run at the same time on different sequences. A sequence that is dropped before it
// finished must be given to Discard, which returns its blocks.
class Engine {
 public:
  Engine(const Model& model, const EngineOptions& options);
  ~Engine();

  // Tokenises the prompt; nothing of the cache is taken. Throws Error(kInput) if the request can
  // never fit the model's positions or the KV cache, or has images and the model reads none.
  std::unique_ptr<Sequence> Prepare(Request request) const;

  // vision_encode: embeddings for all images of the sequences as one ragged batch.
  void EncodeImages(std::span<Sequence* const> sequences);

  // Takes the KV blocks the sequence may need at worst; false if they are not free now.
  bool TryReserve(Sequence& sequence);

  // prefill: prompt rows through the decoder as one ragged batch, then to the drafter; decides the
  // first token of each. All sequences hold a reservation. After an exception the same sequences
  // may be prefilled again, together or one by one.
  void Prefill(std::span<Sequence* const> sequences);

  // Hands over a prefilled sequence.
  void Submit(std::unique_ptr<Sequence> sequence);

  // One round over all live sequences. Returns those that finished, their blocks released. A
  // failure costs the sequences it concerns: a drafter's ends drafting for them, a failed pass is
  // repeated for each sequence alone, and one that fails alone finishes with FinishReason::kFailed.
  std::vector<std::unique_ptr<Sequence>> Step();

  // Takes a live sequence out, its blocks released, with what it has decided so far and
  // FinishReason::kCancelled; nullptr if it is not live.
  std::unique_ptr<Sequence> Cancel(SequenceId sequence);

  // Ends decoding early: returns all live sequences, their blocks released. They have no result,
  // but may be reserved and prefilled again. The engine is as good as new then.
  std::vector<std::unique_ptr<Sequence>> Reset() noexcept;

  // Gives back what a sequence holds; for requests that are dropped before Submit.
  void Discard(Sequence& sequence);

  size_t live() const;
  EngineStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace platen
