#include "stages/readers/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <system_error>
#include <utility>

#include "model/support/error.h"

namespace platen {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr size_t kReadBytes = 64 << 10;
// How often a child that has left its pipes open is looked after.
constexpr int kPollMilliseconds = 50;

[[noreturn]] void Fail(const std::string& program, const std::string& reason, int error_code) {
  throw Error(ErrorKind::kEnvironment, {.file = program, .field = {}},
              reason + ": " + std::generic_category().message(error_code));
}

// A pipe whose ends close on their own.
class Pipe {
 public:
  explicit Pipe(const std::string& program) {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) Fail(program, "cannot make a pipe", errno);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    CloseReadEnd();
    CloseWriteEnd();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseReadEnd() { Close(ends_[0]); }
  void CloseWriteEnd() { Close(ends_[1]); }

 private:
  static void Close(int& fd) {
    if (fd >= 0) close(std::exchange(fd, -1));
  }
  std::array<int, 2> ends_ = {-1, -1};
};

// Settings of posix_spawn: descriptors, process group, signals.
class SpawnSettings {
 public:
  SpawnSettings(int output, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
    // Also closes what other threads opened without close-on-exec.
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// A running child. On destruction it and its whole process group are killed and it is reaped.
class Child {
 public:
  Child(const std::vector<std::string>& arguments, int output, int errors) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments)
      argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    const SpawnSettings settings(output, errors);
    const int error_code = posix_spawnp(&pid_, argv[0], settings.actions(), settings.attributes(),
                                        argv.data(), environ);
    if (error_code != 0) Fail(arguments[0], "cannot be started", error_code);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!reaped_) KillAndReap();
  }

  // Set from outside, right after the start: nothing of ours runs inside the child.
  void Limit(const std::string& program, const ChildLimits& limits) const {
    const auto set = [&](__rlimit_resource resource, rlim_t value) {
      const rlimit limit = {value, value};
      if (prlimit(pid_, resource, &limit, nullptr) != 0 && errno != ESRCH) {
        Fail(program, "cannot be limited", errno);
      }
    };
    set(RLIMIT_AS, static_cast<rlim_t>(limits.memory_bytes));
    set(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.timeout_s)) + 1);
    set(RLIMIT_CORE, 0);
  }

  enum class State { kRuns, kEnded, kUnknown };

  // An ended child stays a zombie, so that its number is not used again. Unknown: whoever started
  // this program left SIGCHLD ignored, and children vanish without a trace.
  State Look() const {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return State::kUnknown;
    }
    return info.si_pid == 0 ? State::kRuns : State::kEnded;
  }

  // Ends what is left of the process group; returns the wait status.
  int KillAndReap() {
    kill(-pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    reaped_ = true;
    return status;
  }

 private:
  pid_t pid_ = -1;
  bool reaped_ = false;
};

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
void Collect(const Child& child, Pipe& output, Pipe& errors, const ChildLimits& limits,
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
    const Child::State state = child.Look();
    if (state != Child::State::kRuns && !open) return;
    const bool ended = state == Child::State::kEnded;
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
  Child child(arguments, output.write_end(), errors.write_end());
  output.CloseWriteEnd();
  errors.CloseWriteEnd();
  child.Limit(arguments[0], limits);
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
