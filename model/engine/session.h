// Requests read by an engine of its own: the whole of prepare, encode, prefill, submit and step for
// callers that need no graph (run, compare, forward).
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/engine/engine.h"

namespace platen {

struct SessionOptions {
  EngineOptions engine;
  int patch_budget = 2400;  // patches encoded and prefilled together; results do not depend on it
  size_t window = 256;      // requests in memory at once, results that wait for their turn included
};

// One call at a time. `model` outlives it.
class Session {
 public:
  Session(const Model& model, const SessionOptions& options);

  // What is to be read, or why it cannot be.
  struct Asked {
    Request request;
    std::string error;
  };
  // What became of one request.
  struct Result {
    std::unique_ptr<Sequence> sequence;  // finished, with its embeddings; nullptr with an error
    std::string error;
  };
  using Next = std::function<std::optional<Asked>()>;
  using Done = std::function<void(Result result)>;

  // Reads what `next` gives until it gives nothing; `done` gets the results in the same order. A
  // request that cannot be read leaves an error in its place. Throws Error(kEnvironment) (no
  // memory, no disk) and what the two functions throw; the session is as good as new then, and what
  // was not handed to `done` is lost.
  void Stream(const Next& next, const Done& done);

  // The same for a list.
  std::vector<Result> Run(std::vector<Request> requests);

  EngineStats stats() const { return engine_.stats(); }

 private:
  struct Item {
    Result result;
    bool done = false;
  };

  void Read(const Next& next, const Done& done);
  void Fill(const Next& next);
  void Prepare(Asked asked, Item& item);
  void Deliver(const Done& done);
  std::vector<Item*> TakeBatch();
  void Prefill(const std::vector<Item*>& batch);
  void Submit(const std::vector<Item*>& batch);
  void Step();
  Item& TakeBack(std::unique_ptr<Sequence> sequence);
  void Clear() noexcept;

  Engine engine_;
  int patch_budget_;
  size_t window_;

  // Of the present call.
  std::deque<std::unique_ptr<Item>> items_;  // from the first that was not delivered on
  std::deque<Item*> waiting_;                // prepared, to be prefilled
  std::map<SequenceId, Item*> live_;
  bool ended_ = false;  // `next` has no more
};

}  // namespace platen
