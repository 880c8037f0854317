#include "stages/readers/left_behind.h"

#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "model/support/error.h"

namespace platen {
namespace {

// A thread that makes calls, one after another, and where it and its client meet.
struct Caller {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> call;  // to be made; empty: none
  bool came_back = false;
  bool left_behind = false;
};

// Never destroyed: a call may come back while the process ends.
struct Callers {
  std::mutex mutex;
  std::vector<std::shared_ptr<Caller>> idle;
  int left_behind = 0;
};

Callers& All() {
  static Callers& callers = *new Callers;
  return callers;
}

// Ends after a call that nobody waits for any more.
void MakeCalls(const std::shared_ptr<Caller>& caller) {
  std::unique_lock lock(caller->mutex);
  while (!caller->left_behind) {
    caller->changed.wait(lock, [&] { return caller->call != nullptr; });
    std::function<void()> call = std::exchange(caller->call, nullptr);
    lock.unlock();
    call();
    call = nullptr;
    lock.lock();
    caller->came_back = true;
    caller->changed.notify_all();
  }
  const std::lock_guard count_lock(All().mutex);
  --All().left_behind;
}

// Signals are for threads that know what to do with them.
void Start(const std::shared_ptr<Caller>& caller) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([caller] { MakeCalls(caller); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::shared_ptr<Caller> TakeCaller() {
  std::unique_lock lock(All().mutex);
  if (All().left_behind >= kMostLeftBehind) {
    throw Error(ErrorKind::kEnvironment, {},
                std::to_string(kMostLeftBehind) +
                    " reads of inputs have not come back: their disk or server does not answer");
  }
  if (!All().idle.empty()) {
    auto caller = std::move(All().idle.back());
    All().idle.pop_back();
    return caller;
  }
  lock.unlock();
  auto caller = std::make_shared<Caller>();
  Start(caller);
  return caller;
}

}  // namespace

bool ComesBack(std::function<void()> call, double seconds) {
  auto caller = TakeCaller();
  std::unique_lock lock(caller->mutex);
  caller->came_back = false;
  caller->call = std::move(call);
  caller->changed.notify_all();
  const bool came_back = caller->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                                  [&] { return caller->came_back; });
  caller->left_behind = !came_back;
  const std::lock_guard all_lock(All().mutex);
  if (came_back) {
    lock.unlock();
    All().idle.push_back(std::move(caller));
  } else {
    ++All().left_behind;
  }
  return came_back;
}

}  // namespace platen
