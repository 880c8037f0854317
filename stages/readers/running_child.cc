#include "stages/readers/running_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "model/support/error.h"

namespace platen {
namespace {

[[noreturn]] void Fail(const std::string& program, const std::string& reason, int error_code) {
  throw Error(ErrorKind::kEnvironment, {.file = program, .field = {}},
              reason + ": " + std::generic_category().message(error_code));
}

// Descriptors from here on are not in the way of those a child gets: the standard ones and one
// more.
constexpr int kReportFd = STDERR_FILENO + 1;
constexpr int kFirstFreeFd = kReportFd + 1;

// Where a program may lie: itself if its name has a slash, else its name in each folder of PATH.
std::vector<std::string> Candidates(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* path = std::getenv("PATH");
  const std::string folders = path == nullptr ? "/bin:/usr/bin" : path;
  std::vector<std::string> candidates;
  for (size_t at = 0; at <= folders.size() && !program.empty();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    candidates.push_back(end == at ? program : folders.substr(at, end - at) + "/" + program);
    at = end + 1;
  }
  return candidates;
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (const std::string& text : strings) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// All a child needs to become another program, made ready before it exists.
struct Start {
  const std::vector<char*>& candidates;
  const std::vector<char*>& arguments;
  int output = -1;
  int errors = -1;
  int report = -1;  // takes the error code if there is no program
  rlim_t memory_bytes = 0;
  rlim_t cpu_seconds = 0;
  rlim_t file_bytes = 0;
  pid_t parent = 0;
};

// The following run in the child, which shares its parent's memory (see RunningChild): they call
// nothing but what is safe in signal handlers, and allocate nothing. They return 0 or an error
// code.

int DieWithParent(pid_t parent) {
  // The signal comes when the thread that started the child ends, thus at the latest when the whole
  // process does, however that happens. It does not reach what the child starts.
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return errno;
  return getppid() == parent ? 0 : ESRCH;  // it may have ended before
}

int SetStreams(const Start& start) {
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(start.output, STDOUT_FILENO) < 0 ||
      dup2(start.errors, STDERR_FILENO) < 0 || dup3(start.report, kReportFd, O_CLOEXEC) < 0) {
    return errno;
  }
  // Where standard input was closed, /dev/null came into its place, with close-on-exec.
  if (fcntl(STDIN_FILENO, F_SETFD, 0) != 0) return errno;
  closefrom(kFirstFreeFd);  // also what other threads opened without close-on-exec
  return 0;
}

void ResetSignals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigprocmask(SIG_SETMASK, &action.sa_mask, nullptr);  // empty
}

int SetLimits(const Start& start) {
  const auto set = [](__rlimit_resource resource, rlim_t value) {
    rlimit limit = {};
    if (getrlimit(resource, &limit) != 0) return false;
    limit.rlim_cur = limit.rlim_max = std::min(value, limit.rlim_cur);  // stricter ones stay
    return setrlimit(resource, &limit) == 0;
  };
  // Memory last: the stack may not grow any more then.
  const bool ok = set(RLIMIT_CORE, 0) && set(RLIMIT_CPU, start.cpu_seconds) &&
                  set(RLIMIT_FSIZE, start.file_bytes) && set(RLIMIT_AS, start.memory_bytes);
  return ok ? 0 : errno;
}

// The error code of the best candidate, as execvp finds it.
int Execute(const Start& start) {
  int error_code = ENOENT;
  for (char* const candidate : start.candidates) {
    if (candidate == nullptr) break;
    execve(candidate, start.arguments.data(), environ);
    if (errno != ENOENT && errno != ENOTDIR) error_code = errno;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) break;
  }
  return error_code;
}

[[noreturn]] void BecomeProgram(const Start& start) {
  int error_code = DieWithParent(start.parent);
  if (error_code == 0 && setpgid(0, 0) != 0) error_code = errno;
  // The report is where it was until the streams are set.
  int report = start.report;
  if (error_code == 0) error_code = SetStreams(start);
  if (error_code == 0) {
    report = kReportFd;
    ResetSignals();
    error_code = SetLimits(start);
  }
  if (error_code == 0) error_code = Execute(start);
  [[maybe_unused]] const ssize_t written = write(report, &error_code, sizeof(error_code));
  _exit(127);
}

// vfork, since a copy of the page tables of a process with a model in memory takes milliseconds;
// posix_spawn, which does the same, sets neither limits nor the signal of a parent's death. The
// parent's thread stands still until the child is another program. Not inlined: the child must not
// write to variables the parent goes on with.
[[gnu::noinline]] pid_t StartChild(const Start& start) {
  const pid_t pid = vfork();
  if (pid == 0) BecomeProgram(start);
  return pid;
}

}  // namespace

Pipe::Pipe(const std::string& program) {
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) Fail(program, "cannot make a pipe", errno);
  for (int& end : ends_) {
    if (end >= kFirstFreeFd) continue;
    const int moved = fcntl(end, F_DUPFD_CLOEXEC, kFirstFreeFd);
    const int error_code = errno;
    Close(end);
    end = moved;
    if (moved >= 0) continue;
    CloseReadEnd();
    CloseWriteEnd();
    Fail(program, "cannot make a pipe", error_code);
  }
}

Pipe::~Pipe() {
  CloseReadEnd();
  CloseWriteEnd();
}

void Pipe::Close(int& fd) {
  if (fd >= 0) close(std::exchange(fd, -1));
}

RunningChild::RunningChild(const std::vector<std::string>& arguments, const ChildLimits& limits,
                           size_t file_bytes, int output, int errors) {
  const std::vector<std::string> paths = Candidates(arguments[0]);
  const std::vector<char*> candidates = Pointers(paths);
  const std::vector<char*> argv = Pointers(arguments);
  Pipe report(arguments[0]);
  const Start start = {.candidates = candidates,
                       .arguments = argv,
                       .output = output,
                       .errors = errors,
                       .report = report.write_end(),
                       .memory_bytes = static_cast<rlim_t>(limits.memory_bytes),
                       .cpu_seconds = static_cast<rlim_t>(std::ceil(limits.timeout_s)) + 1,
                       .file_bytes = static_cast<rlim_t>(file_bytes),
                       .parent = getpid()};
  // No handler of ours may run in the child, where it would work on our memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_ = StartChild(start);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid_ < 0) Fail(arguments[0], "cannot be started", fork_error);
  report.CloseWriteEnd();
  FailIfNotStarted(arguments[0], report.read_end());
}

RunningChild::~RunningChild() {
  if (!reaped_) KillAndReap();
}

RunningChild::State RunningChild::Look() const {
  siginfo_t info = {};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    return State::kUnknown;
  }
  return info.si_pid == 0 ? State::kRuns : State::kEnded;
}

int RunningChild::KillAndReap() {
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  return status;
}

// The report ends without a word when the child has become the program.
void RunningChild::FailIfNotStarted(const std::string& program, int report) {
  int error_code = 0;
  ssize_t n = 0;
  while ((n = read(report, &error_code, sizeof(error_code))) < 0 && errno == EINTR) {
  }
  if (n == 0) return;
  KillAndReap();
  Fail(program, "cannot be started", error_code);
}

}  // namespace platen
