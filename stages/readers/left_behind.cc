#include "stages/readers/left_behind.h"

#include <signal.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "model/support/error.h"
#include "model/support/file_call.h"

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
                    " reads of inputs have not come back: their server does not answer");
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

// Types of file systems that statfs(2) names.
constexpr std::array<uint32_t, 13> kOfServers = {
    0x6969,      // NFS
    0x517b,      // SMB
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB 2
    0x65735546,  // FUSE
    0x00c36400,  // Ceph
    0x01021997,  // 9P
    0x0bd00bd0,  // Lustre
    0x47504653,  // GPFS
    0x5346414f,  // AFS
    0x6b414653,  // AFS of the kernel
    0x19830326,  // BeeGFS
    0x20030528,  // OrangeFS
};

}  // namespace

bool IsOnServer(const std::string& path) {
  constexpr size_t kMostKnown = 1000;
  static std::mutex mutex;
  static std::map<std::string, bool>& known = *new std::map<std::string, bool>;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(folder); found != known.end()) return found->second;
  const FileCall call(folder);
  struct statfs info = {};
  if (::statfs(folder.c_str(), &info) != 0) return false;
  if (known.size() == kMostKnown) known.clear();
  const auto type = static_cast<uint32_t>(info.f_type);
  const bool is = std::find(kOfServers.begin(), kOfServers.end(), type) != kOfServers.end();
  return known[folder] = is;
}

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
