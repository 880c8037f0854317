// A large file that many processes may want to make: one makes it, the others wait and use it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace platen {

// Written as PATH.tmp under a lock, renamed to PATH by Commit: PATH is absent, complete, or what it
// was before, whatever happens when. A process that dies leaves PATH.tmp without a lock; the next
// one writes over it. Not thread-safe.
class ExclusiveFile {
 public:
  struct Waiting {
    std::chrono::milliseconds longest = std::chrono::minutes(10);
    std::function<void()> begins = [] {};  // called once if another process is at work
  };

  // Nothing if another process was at work and has finished or given up meanwhile: look at PATH
  // again. Throws Error(kEnvironment) if the file cannot be made here or the wait is too long.
  static std::unique_ptr<ExclusiveFile> Begin(const std::string& path, const Waiting& waiting);

  ExclusiveFile(const ExclusiveFile&) = delete;
  ExclusiveFile& operator=(const ExclusiveFile&) = delete;
  ~ExclusiveFile();  // without Commit nothing remains

  const std::string& temporary_path() const { return temporary_; }

  // Both throw Error(kEnvironment), a full disk included.
  void Write(uint64_t offset, std::span<const std::byte> bytes);
  void Commit();  // sync, rename, sync of the folder

 private:
  ExclusiveFile(std::string path, std::string temporary, int fd)
      : path_(std::move(path)), temporary_(std::move(temporary)), fd_(fd) {}

  std::string path_;
  std::string temporary_;
  int fd_;
  bool ours_ = false;  // locked and not committed: to be removed
};

}  // namespace platen
