#include "model/ops/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include <atomic>

#include "model/ops/work_observer.h"
#include "model/support/clock.h"

namespace platen {
namespace {

// A context of its own: as part of the caller's, which is the flow graph's in a run, the loop would
// be cancelled with it when some other node throws, and return with bodies undone without a word.
void RunLoop(int64_t n, IndexFunction body) {
  tbb::task_group_context context(tbb::task_group_context::isolated);
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        int64_t{0}, n, [&](int64_t i) { body(i); }, tbb::simple_partitioner(), context);
  });
}

void RunObservedLoop(int64_t n, IndexFunction body, WorkObserver& observer) {
  static std::atomic<uint64_t> loops = 0;
  const uint64_t loop = ++loops;
  RunLoop(n, [&](int64_t i) {
    const int64_t start_ns = MonotonicNs();
    body(i);
    observer.OnLoopBody(loop, start_ns, MonotonicNs());
  });
}

}  // namespace

void ParallelFor(int64_t n, IndexFunction body) {
  if (n <= 0) return;
  const bool alone = n == 1 || (ParallelThreads() == 1 && CurrentWorkObserver() == nullptr);
  if (alone) {
    for (int64_t i = 0; i < n; ++i) body(i);
    return;
  }
  if (WorkObserver* observer = CurrentWorkObserver()) {
    RunObservedLoop(n, body, *observer);
  } else {
    RunLoop(n, body);
  }
}

int ParallelThreads() { return tbb::this_task_arena::max_concurrency(); }

}  // namespace platen
