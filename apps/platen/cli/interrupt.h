// Ctrl-C, SIGTERM and SIGHUP: the first asks for an orderly end, the second ends the process at
// once. Both say so on standard error. SIGTERM and SIGHUP within a second of the first are none:
// schedulers signal a job's script and its children.
#pragma once

#include <cstdint>

namespace platen {

// From now on the signals are noted instead of ending the process. SIGHUP stays ignored where it
// was (nohup).
void CatchInterrupts();

// True once a signal has come.
bool Interrupted();

// For the message: pages that will still be finished. Thread-safe.
void SetPagesInFlight(int64_t pages);

}  // namespace platen
