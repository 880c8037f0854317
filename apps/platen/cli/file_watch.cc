#include "apps/platen/cli/file_watch.h"

#include <pthread.h>
#include <signal.h>

#include <chrono>

#include "apps/platen/cli/log.h"
#include "model/support/clock.h"
#include "model/support/display_text.h"

namespace platen {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kFirstNs = 60 * kSecondNs;
constexpr std::chrono::seconds kBetween(5);

}  // namespace

std::optional<std::string> FileWaits::Say(const std::optional<FileCall::Waiting>& longest,
                                          int64_t now_ns) {
  if (said_ && (!longest || longest->since_ns != said_->since_ns)) {
    const std::string path = said_->path;
    said_.reset();
    return DisplayName(path) + ": the file system answers again";
  }
  if (!said_) next_ns_ = kFirstNs;
  if (!longest || now_ns - longest->since_ns < next_ns_) return std::nullopt;
  said_ = longest;
  next_ns_ *= 2;
  return DisplayName(longest->path) + ": the file system has not answered for " +
         std::to_string((now_ns - longest->since_ns) / kSecondNs) +
         " s; the run waits for it, and goes on when it answers";
}

// Signals are for threads that know what to do with them.
FileWatch::FileWatch() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

FileWatch::~FileWatch() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void FileWatch::Run() {
  pthread_setname_np(pthread_self(), "platen-watch");  // so that it is not taken for one that works
  FileWaits waits;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kBetween, [this] { return end_; })) {
    const auto text = waits.Say(FileCall::Longest(), MonotonicNs());
    if (text) Log(LogLevel::kWarning, *text);
  }
}

}  // namespace platen
