#include "model/ops/work_observer.h"

#include <atomic>

namespace platen {
namespace {

std::atomic<WorkObserver*> current = nullptr;

}  // namespace

WorkObserver* CurrentWorkObserver() { return current.load(std::memory_order_relaxed); }

void SetWorkObserver(WorkObserver* observer) { current.store(observer); }

}  // namespace platen
