// Calls of the system that may never come back: a read from a server that is gone.
#pragma once

#include <functional>
#include <string>

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

// Whether what the path names lies behind a server (NFS, SMB, FUSE, Ceph, Lustre, ...): calls on a
// disk of this machine come back, be it with an error. Asks once for each folder. Thread-safe.
bool IsOnServer(const std::string& path);

}  // namespace platen
