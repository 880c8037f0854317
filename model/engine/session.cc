#include "model/engine/session.h"

#include <algorithm>
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
    : engine_(model, options.engine),
      patch_budget_(options.patch_budget),
      window_(std::max<size_t>(options.window, 1)) {}

std::vector<Session::Result> Session::Run(std::vector<Request> requests) {
  std::vector<Result> results;
  size_t next = 0;
  Stream(
      [&]() -> std::optional<Asked> {
        if (next == requests.size()) return std::nullopt;
        return Asked{std::move(requests[next++]), ""};
      },
      [&](Result result) { results.push_back(std::move(result)); });
  return results;
}

void Session::Stream(const Next& next, const Done& done) {
  ended_ = false;
  try {
    Read(next, done);
  } catch (...) {
    Clear();
    throw;
  }
}

void Session::Clear() noexcept {
  for (const auto& item : items_) {
    if (item->result.sequence) engine_.Discard(*item->result.sequence);
  }
  engine_.Reset();
  items_.clear();
  waiting_.clear();
  live_.clear();
}

void Session::Read(const Next& next, const Done& done) {
  for (;;) {
    Fill(next);
    Deliver(done);
    if (items_.empty()) {
      if (ended_) return;
      continue;
    }
    const std::vector<Item*> batch = TakeBatch();
    Prefill(batch);
    Submit(batch);
    Step();
  }
}

void Session::Fill(const Next& next) {
  while (!ended_ && items_.size() < window_) {
    std::optional<Asked> asked = next();
    ended_ = !asked.has_value();
    if (ended_) return;
    items_.push_back(std::make_unique<Item>());
    Prepare(std::move(*asked), *items_.back());
  }
}

void Session::Prepare(Asked asked, Item& item) {
  item.result.error = std::move(asked.error);
  if (item.result.error.empty()) {
    try {
      item.result.sequence = engine_.Prepare(std::move(asked.request));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kEnvironment) throw;
      item.result.error = e.what();
    }
  }
  item.done = item.result.sequence == nullptr;
  if (!item.done) waiting_.push_back(&item);
}

void Session::Deliver(const Done& done) {
  while (!items_.empty() && items_.front()->done) {
    Result result = std::move(items_.front()->result);
    items_.pop_front();
    done(std::move(result));
  }
}

std::vector<Session::Item*> Session::TakeBatch() {
  std::vector<Item*> batch;
  int patches = 0;
  while (!waiting_.empty()) {
    Sequence& sequence = *waiting_.front()->result.sequence;
    const int more = Patches(sequence);
    if (!batch.empty() && more > patch_budget_ - patches) break;
    if (!engine_.TryReserve(sequence)) break;  // until others have finished
    patches += more;
    batch.push_back(waiting_.front());
    waiting_.pop_front();
  }
  return batch;
}

// A batch that fails is tried again one by one, so that a bad request costs only itself.
void Session::Prefill(const std::vector<Item*>& batch) {
  std::vector<Sequence*> sequences, fresh;
  for (const Item* item : batch) {
    sequences.push_back(item->result.sequence.get());
    if (sequences.back()->num_decided() == 0) fresh.push_back(sequences.back());
  }
  if (sequences.empty()) return;
  try {
    engine_.EncodeImages(fresh);
    engine_.Prefill(sequences);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kEnvironment) throw;
    if (batch.size() > 1) {
      for (Item* item : batch) Prefill({item});
      return;
    }
    Item& item = *batch.front();
    engine_.Discard(*item.result.sequence);
    item.result = {nullptr, e.what()};
    item.done = true;
  }
}

void Session::Submit(const std::vector<Item*>& batch) {
  for (Item* item : batch) {
    if (item->done) continue;
    live_[item->result.sequence->id] = item;
    engine_.Submit(std::move(item->result.sequence));
  }
}

Session::Item& Session::TakeBack(std::unique_ptr<Sequence> sequence) {
  const auto place = live_.find(sequence->id);
  Item& item = *place->second;
  live_.erase(place);
  item.result.sequence = std::move(sequence);
  return item;
}

void Session::Step() {
  for (std::unique_ptr<Sequence>& sequence : engine_.Step()) {
    Item& item = TakeBack(std::move(sequence));
    item.done = true;
    item.result.error = item.result.sequence->result.error;
    if (!item.result.error.empty()) item.result.sequence.reset();
  }
  for (std::unique_ptr<Sequence>& sequence : engine_.TakePreempted()) {
    waiting_.push_front(&TakeBack(std::move(sequence)));
  }
}

}  // namespace platen
