// Calls of the system that may never come back: a read from a server that is gone, from a disk that
// tries again for ever.
#pragma once

#include <functional>

namespace platen {

// So long a call is waited for, unless somebody says otherwise.
inline constexpr double kUsualPatienceS = 600;

// No more such calls are left behind: a file system from which so many do not come back is gone.
inline constexpr int kMostLeftBehind = 16;

// Makes the call on a thread that does nothing else, while the caller's waits. False: it has not
// come back within `seconds`. It is left behind then, with its thread; whatever `call` uses must be
// its own (a shared_ptr), for it may come back at any time. `call` throws nothing. Throws
// Error(kEnvironment) if too many are left behind already. Thread-safe.
bool ComesBack(std::function<void()> call, double seconds);

}  // namespace platen
