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

#include "model/engine/mtp_convention.h"
#include "model/families/prompt.h"
#include "model/families/vision_model.h"
#include "model/ops/observer.h"

namespace platen {

class Model;      // weights, immutable (model/families/model.h)
struct Sequence;  // one request with its KV blocks (model/engine/sequence.h)

// kFailed: the model produced numbers that are not finite; Recognition::error says where.
enum class FinishReason { kStop, kLength, kRepetition, kFailed };

// One thing to read: images in order and the text that follows them.
struct Request {
  std::vector<PreparedImage> images;  // usually one crop
  std::string task_text;
  int max_new_tokens = 0;  // 0: derived from the number of image tokens, see DefaultTokenLimit
  float repetition_penalty = 1.0F;
  std::vector<TokenId> stop;  // ids that end the answer; empty: the model's
  bool ignore_stop = false;   // for measurements: generate exactly max_new_tokens
};

struct Recognition {
  std::vector<TokenId> tokens;       // without the stop token
  std::vector<float> probabilities;  // of each token, softmax of the target's logits
  FinishReason finish = FinishReason::kStop;
  std::string error;  // for kFailed
  int prompt_tokens = 0;
  int image_tokens = 0;
};

// What one round did for one sequence; for `platen forward` and comparisons with the reference.
struct Round {
  const Sequence* sequence = nullptr;
  int64_t cache_len_before = 0;  // target rows in the cache
  int64_t rope_position = 0;     // of the newest decided token, row 0 of the pass
  TokenId anchor = 0;            // that token
  std::vector<TokenId> drafts;
  std::vector<TokenId> target_argmax;  // drafts.size() + 1 rows
  int accepted = 0;
  std::vector<TokenId> emitted;  // decided tokens, stop token included
};

struct EngineOptions {
  int draft_length = 3;        // 0..8 drafts per round; 0 = plain decoding
  int64_t kv_cache_bytes = 0;  // 0: 1 GiB
  int kv_block_tokens = 32;    // tests use 16 to hit boundaries often
  MtpConvention mtp_convention;
  // Draft to the full length even where the token limit or a drafted stop token makes the rest
  // useless, as far as the blocks reach that the sequence holds anyway; comparisons with the
  // reference need it.
  bool full_drafts = false;
  // Draft as many tokens as pay just now, at most draft_length; see draft_planner.h. Changes the
  // speed, never a token.
  bool adaptive_drafts = false;
  Observer observer;                           // intermediate results of prefill and drafting
  std::function<void(const Round&)> on_round;  // called by Step
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
  int64_t kv_blocks_total = 0;
  int64_t kv_blocks_free = 0;
  int64_t kv_blocks_peak = 0;
};

// Tokens a region may produce when the request sets no limit: generous for any text that fits into
// its pixels, small enough to bound a runaway.
int DefaultTokenLimit(int image_tokens);

// Thread-safety: Prepare and TryReserve from any thread. EncodeImages, Prefill and the group of
// Submit, Step and Abandon are three stages: each is called by one thread at a time, and the three
// may run at the same time on different sequences. A sequence that is dropped before it finished
// must be given to Discard, which returns its blocks.
class Engine {
 public:
  Engine(const Model& model, const EngineOptions& options);
  ~Engine();

  // Tokenises the prompt; nothing of the cache is taken. Throws Error(kInput) if the request can
  // never fit the model's positions or the KV cache.
  std::unique_ptr<Sequence> Prepare(Request request) const;

  // vision_encode: embeddings for all images of the sequences as one ragged batch.
  void EncodeImages(std::span<Sequence* const> sequences) const;

  // Takes the KV blocks the sequence may need at worst; false if they are not free now.
  bool TryReserve(Sequence& sequence);

  // prefill: prompt rows through decoder and MTP layer as one ragged batch; decides the first token
  // of each. All sequences hold a reservation. After an exception the same sequences may be
  // prefilled again, together or one by one.
  void Prefill(std::span<Sequence* const> sequences);

  // Hands over a prefilled sequence.
  void Submit(std::unique_ptr<Sequence> sequence);

  // One round over all live sequences. Returns those that finished, their blocks released. After an
  // exception the live sequences can only be abandoned.
  std::vector<std::unique_ptr<Sequence>> Step();

  // Ends decoding early: returns all live sequences, their blocks released. They have no result,
  // but may be reserved and prefilled again. Works after an exception of Step too, and the engine
  // is as good as new then.
  std::vector<std::unique_ptr<Sequence>> Abandon() noexcept;

  // Gives back what a sequence holds; for requests that are dropped before Submit.
  void Discard(Sequence& sequence);

  size_t live() const;
  EngineStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace platen
