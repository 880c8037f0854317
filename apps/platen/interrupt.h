// Ctrl-C and SIGTERM: the first asks for an orderly end, the second ends the process at once.
#pragma once

namespace platen {

// From now on the signals are counted instead of ending the process.
void CatchInterrupts();

// True once a signal has come.
bool Interrupted();

}  // namespace platen
