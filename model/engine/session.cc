#include "model/engine/session.h"

#include <map>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

int Patches(const Sequence& sequence) {
  int patches = 0;
  for (const PreparedImage& image : sequence.request.images) patches += image.grid.num_patches();
  return patches;
}

}  // namespace

Session::Session(const Model& model, const SessionOptions& options)
    : engine_(model, options.engine), patch_budget_(options.patch_budget) {}

std::vector<Session::Result> Session::Run(std::vector<Request> requests) {
  std::vector<Result> results(requests.size());
  try {
    Prepare(std::move(requests), results);
    Decode(results);
  } catch (...) {
    for (Result& result : results) {
      if (result.sequence) engine_.Discard(*result.sequence);
    }
    engine_.Reset();
    throw;
  }
  return results;
}

void Session::Prepare(std::vector<Request> requests, std::vector<Result>& results) {
  for (size_t i = 0; i < requests.size(); ++i) {
    try {
      results[i].sequence = engine_.Prepare(std::move(requests[i]));
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::kInput) throw;
      results[i].error = e.what();
    }
  }
}

std::vector<Session::Result*> Session::TakeBatch(std::deque<Result*>& waiting) {
  std::vector<Result*> batch;
  int patches = 0;
  while (!waiting.empty()) {
    Sequence& sequence = *waiting.front()->sequence;
    const int more = Patches(sequence);
    if (!batch.empty() && more > patch_budget_ - patches) break;
    if (!engine_.TryReserve(sequence)) break;  // until others have finished
    patches += more;
    batch.push_back(waiting.front());
    waiting.pop_front();
  }
  return batch;
}

// A batch that fails is tried again one by one, so that a bad request costs only itself.
void Session::Prefill(const std::vector<Result*>& batch) {
  std::vector<Sequence*> sequences, fresh;
  for (const Result* result : batch) {
    sequences.push_back(result->sequence.get());
    if (result->sequence->num_decided() == 0) fresh.push_back(result->sequence.get());
  }
  if (sequences.empty()) return;
  try {
    engine_.EncodeImages(fresh);
    engine_.Prefill(sequences);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kEnvironment) throw;
    if (batch.size() > 1) {
      for (Result* result : batch) Prefill({result});
      return;
    }
    engine_.Discard(*batch.front()->sequence);
    batch.front()->sequence.reset();
    batch.front()->error = e.what();
  }
}

void Session::Decode(std::vector<Result>& results) {
  std::map<SequenceId, Result*> live;
  std::deque<Result*> waiting;
  for (Result& result : results) {
    if (result.sequence) waiting.push_back(&result);
  }
  const auto take_back = [&](std::unique_ptr<Sequence> sequence) {
    const auto place = live.find(sequence->id);
    Result& result = *place->second;
    live.erase(place);
    result.sequence = std::move(sequence);
    return &result;
  };
  while (!waiting.empty() || !live.empty()) {
    const std::vector<Result*> batch = TakeBatch(waiting);
    Prefill(batch);
    for (Result* result : batch) {
      if (!result->sequence) continue;
      live[result->sequence->id] = result;
      engine_.Submit(std::move(result->sequence));
    }
    for (std::unique_ptr<Sequence>& sequence : engine_.Step()) {
      Result* result = take_back(std::move(sequence));
      result->error = result->sequence->result.error;
      if (!result->error.empty()) result->sequence.reset();
    }
    for (std::unique_ptr<Sequence>& sequence : engine_.TakePreempted()) {
      waiting.push_front(take_back(std::move(sequence)));
    }
  }
}

}  // namespace platen
