#include "apps/platen/thread_limit.h"

#include <tbb/global_control.h>

namespace platen {

// Never destroyed: when a limit ends, oneTBB starts the workers it was keeping back.
void LimitThreads(int threads) {
  [[maybe_unused]] static const auto* const limit = new tbb::global_control(
      tbb::global_control::max_allowed_parallelism, static_cast<size_t>(threads));
}

}  // namespace platen
