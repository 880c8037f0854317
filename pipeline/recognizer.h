// What the graph needs of the decoding engine (model/engine.h), as an interface: the engine itself
// behind EngineRecognizer, a fake with delays and failures in the tests of the graph.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/engine/engine.h"
#include "model/support/image.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {

struct PageCrop;

// One crop on its way through the recogniser. Destroying it gives back what it has reserved.
struct CropSequence {
  virtual ~CropSequence() = default;
  int patches = 0;           // rows of the vision batch
  int prefill_rows = 0;      // rows of the prefill batch
  PageCrop* crop = nullptr;  // whose crop it is; set by the graph
};

// Thread-safety: Prepare may be called by any number of threads at once. EncodeImages by one thread
// at a time, likewise TryReserve and Prefill, likewise Submit, Step, TakePreempted, Cancel,
// Abandon, live and stats; these three groups run at the same time as each other, on different
// crops.
class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // Resizes the crop to its patch grid and makes the prompt. Throws Error(kInput) if the crop
  // cannot be read or can never fit the cache, even alone: a crop that is prepared can always be
  // finished.
  virtual std::unique_ptr<CropSequence> Prepare(const Image& crop,
                                                const RequestOptions& options) = 0;

  virtual void EncodeImages(std::span<CropSequence* const> crops) = 0;

  // Takes the cache blocks that are expected to be enough; false if they are not free now. With no
  // other crop holding any, it succeeds.
  virtual bool TryReserve(CropSequence& crop) = 0;

  virtual void Prefill(std::span<CropSequence* const> crops) = 0;

  // Hands over a prefilled crop. It belongs to the recogniser until Step,
  // TakePreempted, Cancel or Abandon returns it.
  virtual void Submit(std::unique_ptr<CropSequence> crop) = 0;

  // One round over all live crops; returns those that finished, their blocks released. After an
  // exception the live crops can only be abandoned.
  virtual std::vector<std::unique_ptr<CropSequence>> Step() = 0;

  // Those that gave their blocks away to others in Step: no longer live, to be reserved, prefilled
  // and submitted again ahead of new ones.
  virtual std::vector<std::unique_ptr<CropSequence>> TakePreempted() = 0;

  // Ends recognition early, also after an exception of Step: returns all live crops, their
  // blocks released. They have no result.
  virtual std::vector<std::unique_ptr<CropSequence>> Abandon() = 0;

  // Takes a live crop out before its end, its blocks released. It has no result.
  virtual std::unique_ptr<CropSequence> Cancel(CropSequence& crop) = 0;

  virtual size_t live() const = 0;
  virtual EngineStats stats() const = 0;

  // The same request on the pixels of a crop that Step returned, with their sides times `factor`:
  // another try. Throws as Prepare does. From the thread of Step.
  virtual std::unique_ptr<CropSequence> PrepareAgain(CropSequence& crop, double factor) = 0;

  // Result of a crop that Step returned.
  virtual SequenceResult Result(const CropSequence& crop) const = 0;

  // Text of generated tokens. Thread-safe.
  virtual DecodedText Text(std::span<const TokenId> tokens) const = 0;
};

}  // namespace platen
