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

namespace platen {

struct Region;

// One crop on its way through the recogniser. Destroying it gives back what it has reserved.
struct Reading {
  virtual ~Reading() = default;
  int patches = 0;           // rows of the vision batch
  int prompt_rows = 0;       // rows of the prefill batch
  Region* region = nullptr;  // whose crop it is; set by the graph
};

// Thread-safety: Prepare may be called by any number of threads at once. EncodeImages by one thread
// at a time, likewise TryReserve and Prefill, likewise Submit, Step, Abandon, live and stats; these
// three groups run at the same time as each other, on different readings.
class Recognizer {
 public:
  virtual ~Recognizer() = default;

  // Resizes the crop to its patch grid and makes the prompt. Throws Error(kInput) if the crop
  // cannot be read or can never fit the cache, even alone: a crop that is prepared can always be
  // finished.
  virtual std::unique_ptr<Reading> Prepare(const Image& crop) = 0;

  virtual void EncodeImages(std::span<Reading* const> readings) = 0;

  // Takes the cache blocks the reading may need at worst; false if they are not free now. With no
  // other reading holding any, it succeeds.
  virtual bool TryReserve(Reading& reading) = 0;

  virtual void Prefill(std::span<Reading* const> readings) = 0;

  // Hands over a prefilled reading. It belongs to the recogniser until Step or Abandon returns it.
  virtual void Submit(std::unique_ptr<Reading> reading) = 0;

  // One round over all live readings; returns those that finished, their blocks released. After an
  // exception the live readings can only be abandoned.
  virtual std::vector<std::unique_ptr<Reading>> Step() = 0;

  // Ends recognition early, also after an exception of Step: returns all live readings, their
  // blocks released. They have no result.
  virtual std::vector<std::unique_ptr<Reading>> Abandon() = 0;

  virtual size_t live() const = 0;
  virtual EngineStats stats() const = 0;

  // Result of a reading that Step returned.
  virtual Recognition Result(const Reading& reading) const = 0;

  // Text of generated tokens, without special tokens. Thread-safe.
  virtual std::string Text(std::span<const TokenId> tokens) const = 0;
};

}  // namespace platen
