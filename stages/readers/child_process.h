// Runs one program to its end, without a shell, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace platen {

struct ChildLimits {
  double timeout_s = 60;        // wall clock, and CPU time
  int64_t memory_bytes = 0;     // address space
  size_t max_output_bytes = 0;  // of standard output
};

struct ChildResult {
  enum class End {
    kExited,        // code: exit status
    kSignalled,     // code: signal
    kTimedOut,      // killed after timeout_s
    kTooMuchOutput  // killed after max_output_bytes
  };
  End end = End::kExited;
  int code = 0;
  std::vector<uint8_t> output;  // standard output
  std::string errors;           // standard error, cut after 64 KiB
};

// Runs arguments[0], found on PATH, and waits for it. Its standard input is /dev/null; it inherits
// no other descriptor, and has a process group of its own, all of which is gone on return. Should
// this process be killed, the program is killed too (but not what it has started itself).
// Thread-safe; starts no threads. Throws Error(kEnvironment) if the program is not there or cannot
// be started.
ChildResult RunChild(const std::vector<std::string>& arguments, const ChildLimits& limits);

}  // namespace platen
