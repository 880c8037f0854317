#include "apps/platen/cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "model/support/clock.h"

namespace platen {
namespace {

// Written by a signal handler, read by all threads.
std::atomic<int64_t> asked_ns = 0;  // when the first came; 0: none has
std::atomic<int64_t> pages_in_flight = 0;
std::atomic<bool> as_json = false;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);

// A line made without anything a signal handler may not call.
class HandlerLine {
 public:
  void Add(const char* text) {
    const size_t length = std::min(std::strlen(text), sizeof(bytes_) - size_);
    std::memcpy(bytes_ + size_, text, length);
    size_ += length;
  }
  void Add(int64_t number) {
    char digits[24];
    size_t at = sizeof(digits);
    digits[--at] = '\0';
    do {
      digits[--at] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number > 0);
    Add(digits + at);
  }
  void Begin() {
    if (!as_json) {
      Add("\n");
      return;
    }
    Add("{\"time\":\"");
    AddTime(std::chrono::sys_seconds(std::chrono::seconds(std::time(nullptr))));
    Add("\",\"level\":\"warning\",\"message\":\"");
  }
  void End() {
    Add(as_json ? "\"}\n" : "\n");
    const ssize_t written = ::write(STDERR_FILENO, bytes_, size_);
    (void)written;  // the terminal may be gone: that is one of the reasons for the signal
  }

 private:
  // As UtcTime writes it, by arithmetic alone.
  void AddTime(std::chrono::sys_seconds now) {
    const auto day = std::chrono::floor<std::chrono::days>(now);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(now - day);
    Add(int64_t{static_cast<int>(date.year())});
    AddTwoDigits("-", static_cast<unsigned>(date.month()));
    AddTwoDigits("-", static_cast<unsigned>(date.day()));
    AddTwoDigits("T", time.hours().count());
    AddTwoDigits(":", time.minutes().count());
    AddTwoDigits(":", time.seconds().count());
    Add("Z");
  }
  void AddTwoDigits(const char* before, int64_t number) {
    Add(before);
    if (number < 10) Add("0");
    Add(number);
  }

  char bytes_[250];
  size_t size_ = 0;
};

// A scheduler that stops a job sends a signal to all of its processes, and the job's script passes
// its own on: both are one request. Whoever presses Ctrl-C twice means it.
bool IsSameRequest(int signal, int64_t first_ns) {
  constexpr int64_t kTogetherNs = 1'000'000'000;
  return signal != SIGINT && MonotonicNs() - first_ns < kTogetherNs;
}

extern "C" void OnInterrupt(int signal) {
  const int code = errno;
  // One step decides which is the first: a handler may interrupt another, or run beside it.
  int64_t first_ns = 0;
  const bool is_first = asked_ns.compare_exchange_strong(first_ns, MonotonicNs());
  if (!is_first && IsSameRequest(signal, first_ns)) return;
  HandlerLine line;
  line.Begin();  // the progress line, or the terminal's ^C, stands where the cursor is
  if (!is_first) {
    line.Add("stopped at once; the same command goes on from what is finished");
    line.End();
    _exit(kExitInterrupted);
  }
  const int64_t pages = pages_in_flight;
  line.Add("stopping: ");
  if (pages > 0) {
    line.Add("finishing ");
    line.Add(pages);
    line.Add(pages == 1 ? " page in flight; " : " pages in flight; ");
  }
  line.Add("press Ctrl-C (or send the signal) again to stop at once");
  line.End();
  errno = code;
}

void Catch(int signal) {
  struct sigaction action = {};
  action.sa_handler = OnInterrupt;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

void CatchInterrupts() {
  as_json = LogsAsJson();
  Catch(SIGINT);
  Catch(SIGTERM);
  struct sigaction before = {};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) Catch(SIGHUP);
}

bool Interrupted() { return asked_ns != 0; }

void SetPagesInFlight(int64_t pages) { pages_in_flight = pages; }

}  // namespace platen
