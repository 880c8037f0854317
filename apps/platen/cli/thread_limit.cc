#include "apps/platen/cli/thread_limit.h"

#include <dlfcn.h>
#include <tbb/global_control.h>

#include <cstddef>
#include <new>

namespace platen {

// Never destroyed, hence no object with a destructor: when a limit ends, oneTBB starts the workers
// it was keeping back.
void LimitThreads(int threads) {
  alignas(tbb::global_control) static std::byte place[sizeof(tbb::global_control)];
  static const bool once = [threads] {
    new (place) tbb::global_control(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(threads));
    return true;
  }();
  (void)once;
}

// What OpenBLAS itself calls before every fork(); a later call of a product would start them again.
void EndBlasThreads() {
  void* const end = ::dlsym(RTLD_DEFAULT, "blas_thread_shutdown_");
  if (end != nullptr) reinterpret_cast<int (*)()>(end)();
}

}  // namespace platen
