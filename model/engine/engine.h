// The decoding engine: regions go in as requests, text tokens come out, many at a time.
//
//   Prepare (any thread)  ->  EncodeImages  ->  Prefill  ->  Submit, Step, Step, ...
//
// Every round of Step is draft -> verify -> accept -> commit over all live sequences, in one ragged
// batch. Plain decoding is the same round with zero drafts. The tokens of a sequence do not depend
// on the draft length, on the other sequences, on the number of threads, or on memory.
//
// A sequence is given blocks of the KV cache for the answer that is expected of it and more as it
// grows. When none are free, the youngest gives its blocks away: TakePreempted hands it out, and it
// is reserved, prefilled and submitted again, ahead of new ones.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/engine/engine_options.h"
#include "model/engine/engine_stats.h"
#include "model/engine/request.h"
#include "model/engine/sequence.h"

namespace platen {

// Thread-safety: Prepare and TryReserve from any thread. EncodeImages, Prefill and the group of
// Submit, Step, TakePreempted, Cancel and Reset are three stages: each is called by one thread at a
// time, and the three may run at the same time on different sequences. A sequence that is dropped
// before it finished must be given to Discard, which returns its blocks.
class Engine {
 public:
  Engine(const Model& model, const EngineOptions& options);
  ~Engine();

  // Tokenises the prompt; nothing of the cache is taken. Throws Error(kInput) if the request can
  // never fit the model's positions or the KV cache, or has images and the model reads none.
  std::unique_ptr<Sequence> Prepare(Request request) const;

  // vision_encode: embeddings for all images of the sequences as one ragged batch.
  void EncodeImages(std::span<Sequence* const> sequences);

  // Takes KV blocks for the prompt and the answer that is expected, or for a preempted sequence for
  // what it has and a little more; false if they are not free now. While nobody holds any, it
  // succeeds.
  bool TryReserve(Sequence& sequence);

  // prefill: prompt rows through the decoder as one ragged batch, then to the drafter; decides the
  // first token of each. A sequence that has decided some goes on where it was; one that had
  // finished begins anew. All hold a reservation. After an exception the same sequences may be
  // prefilled again, together or one by one.
  void Prefill(std::span<Sequence* const> sequences);

  // Hands over a prefilled sequence.
  void Submit(std::unique_ptr<Sequence> sequence);

  // One round over all live sequences. Returns those that finished, their blocks released. A
  // round is possible as long as somebody is live, and each takes somebody forward. A failure costs
  // the sequences it concerns: a drafter's ends drafting for them, a failed pass is repeated for
  // each sequence alone, and one that fails alone finishes with FinishReason::kFailed.
  std::vector<std::unique_ptr<Sequence>> Step();

  // Those that gave their blocks away in Step, and are no longer live.
  std::vector<std::unique_ptr<Sequence>> TakePreempted();

  // Takes a live sequence out, its blocks released, with what it has decided so far and
  // FinishReason::kCancelled; nullptr if it is not live.
  std::unique_ptr<Sequence> Cancel(SequenceId sequence);

  // Ends decoding early: returns all live and preempted sequences, their blocks released. They have
  // no result, but may be reserved and prefilled again. The engine is as good as new then.
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
