#include "apps/platen/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "apps/platen/exit_codes.h"

namespace platen {
namespace {

volatile sig_atomic_t interrupts = 0;

extern "C" void OnInterrupt(int) {
  if (interrupts != 0) _exit(kExitInterrupted);
  interrupts = 1;
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

bool Interrupted() { return interrupts != 0; }

}  // namespace platen
