#include "stages/readers/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>

#include "stages/readers/running_child.h"

namespace platen {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr size_t kReadBytes = 64 << 10;
// How often a child that has left its pipes open is looked after.
constexpr int kPollMilliseconds = 50;
// What a child writes into files is limited as what this process writes is.
constexpr size_t kAnyFile = SIZE_MAX;

// Appends what can be read to `out`; returns false at the end of the stream.
template <class Bytes>
bool ReadSome(int fd, size_t max_bytes, Bytes& out) {
  std::array<uint8_t, kReadBytes> buffer;
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n < 0) return errno == EINTR;
  const size_t kept = std::min(static_cast<size_t>(n), max_bytes - std::min(max_bytes, out.size()));
  out.insert(out.end(), buffer.begin(), buffer.begin() + static_cast<ptrdiff_t>(kept));
  return n > 0;
}

// Reads both streams until they end, the child is gone, or a limit is met (result.end says which).
void Collect(const RunningChild& child, Pipe& output, Pipe& errors, const ChildLimits& limits,
             ChildResult& result) {
  const auto deadline = Clock::now() + std::chrono::duration<double>(limits.timeout_s);
  std::array<pollfd, 2> streams = {
      {{output.read_end(), POLLIN, 0}, {errors.read_end(), POLLIN, 0}}};
  while (true) {
    if (Clock::now() >= deadline) {
      result.end = ChildResult::End::kTimedOut;
      return;
    }
    const bool open = streams[0].fd >= 0 || streams[1].fd >= 0;
    // Looked at before polling, so that nothing written before the end is missed.
    const RunningChild::State state = child.Look();
    if (state != RunningChild::State::kRuns && !open) return;
    const bool ended = state == RunningChild::State::kEnded;
    const int ready = poll(streams.data(), streams.size(),
                           ended  ? 0
                           : open ? kPollMilliseconds
                                  : 1);
    // A grandchild may keep the pipes open for as long as it likes.
    if (ended && ready == 0) return;
    if (ready <= 0) continue;
    if (streams[0].revents != 0) {
      // One byte beyond the limit shows that there is more.
      if (!ReadSome(streams[0].fd, limits.max_output_bytes + 1, result.output)) streams[0].fd = -1;
      if (result.output.size() > limits.max_output_bytes) {
        result.end = ChildResult::End::kTooMuchOutput;
        return;
      }
    }
    if (streams[1].revents != 0 && !ReadSome(streams[1].fd, kMaxErrorBytes, result.errors)) {
      streams[1].fd = -1;
    }
  }
}

}  // namespace

ChildResult RunChild(const std::vector<std::string>& arguments, const ChildLimits& limits) {
  Pipe output(arguments[0]);
  Pipe errors(arguments[0]);
  RunningChild child(arguments, limits, kAnyFile, output.write_end(), errors.write_end());
  output.CloseWriteEnd();
  errors.CloseWriteEnd();
  ChildResult result;
  Collect(child, output, errors, limits, result);
  const int status = child.KillAndReap();
  if (result.end == ChildResult::End::kExited) {
    if (WIFSIGNALED(status)) result.end = ChildResult::End::kSignalled;
    result.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  }
  return result;
}

}  // namespace platen
