#include "model/ops/parallel.h"

#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

namespace platen {

void ParallelFor(int64_t n, IndexFunction body) {
  if (n <= 0) return;
  if (n == 1) {
    body(0);
    return;
  }
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(
        int64_t{0}, n, [&](int64_t i) { body(i); }, tbb::simple_partitioner());
  });
}

}  // namespace platen
