// A list of requests read from first to last by an engine of its own: the whole of prepare, encode,
// prefill, submit and step for callers that need no graph (compare, forward, the library).
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "model/engine/engine.h"

namespace platen {

struct SessionOptions {
  EngineOptions engine;
  int patch_budget = 2400;  // patches encoded and prefilled together; results do not depend on it
};

// One call at a time. `model` outlives it.
class Session {
 public:
  Session(const Model& model, const SessionOptions& options);

  // What became of one request.
  struct Result {
    std::unique_ptr<Sequence> sequence;  // finished, with its embeddings; nullptr with an error
    std::string error;
  };

  // In the order of the requests. A request that cannot be read leaves an error in its place.
  // Throws Error(kEnvironment) (no memory, no disk); the session is as good as new then, the
  // requests are lost.
  std::vector<Result> Run(std::vector<Request> requests);

  EngineStats stats() const { return engine_.stats(); }

 private:
  void Prepare(std::vector<Request> requests, std::vector<Result>& results);
  std::vector<Result*> TakeBatch(std::deque<Result*>& waiting);
  void Prefill(const std::vector<Result*>& batch);
  void Decode(std::vector<Result>& results);

  Engine engine_;
  int patch_budget_;
};

}  // namespace platen
