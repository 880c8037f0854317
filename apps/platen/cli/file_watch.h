// Says so when the file system does not answer: a thread that waits for a write, or for a look at a
// folder, on a server that is gone can neither give up nor say why nothing goes on.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "model/support/file_call.h"

namespace platen {

// What there is to say of the call that takes longest, whenever it is asked: once after a minute,
// then each time that the wait has doubled, and when it is over. One thread at a time.
class FileWaits {
 public:
  std::optional<std::string> Say(const std::optional<FileCall::Waiting>& longest, int64_t now_ns);

 private:
  std::optional<FileCall::Waiting> said_;  // of which something was said
  int64_t next_ns_ = 0;                    // so long it has to wait until the next time
};

// Logs it as a warning, from a thread that does nothing else, as long as this object lives.
class FileWatch {
 public:
  FileWatch();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace platen
