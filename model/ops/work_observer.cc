#include "model/ops/work_observer.h"

#include <atomic>
#include <chrono>

namespace platen {
namespace {

std::atomic<WorkObserver*> current = nullptr;

}  // namespace

WorkObserver* CurrentWorkObserver() { return current.load(std::memory_order_relaxed); }

void SetWorkObserver(WorkObserver* observer) { current.store(observer); }

int64_t ObserverClockNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace platen
