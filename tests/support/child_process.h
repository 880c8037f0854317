// Work in processes of its own, so that the test's has no worker threads to fork away from.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <thread>

namespace platen::testing {

inline constexpr auto kNever = std::chrono::microseconds(-1);

// Exit code 0 when it has done its work, 1 if that threw.
inline pid_t StartChild(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  try {
    work();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

// Kills it after a while; returns whether it came to its end.
inline bool EndChild(pid_t child, std::chrono::microseconds kill_after = kNever) {
  if (kill_after != kNever) {
    std::this_thread::sleep_for(kill_after);
    ::kill(child, SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace platen::testing
