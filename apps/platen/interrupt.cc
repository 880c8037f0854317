#include "apps/platen/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "apps/platen/exit_codes.h"

namespace platen {
namespace {

// Written by a signal handler, read by all threads.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void OnInterrupt(int) {
  if (interrupted.exchange(true)) _exit(kExitInterrupted);
}

}  // namespace

void CatchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted; }

}  // namespace platen
