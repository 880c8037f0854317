// A large file that many processes may want to make: one makes it, the others wait and use it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "model/support/atomic_file.h"
#include "model/support/folder.h"

namespace platen {

// An AtomicFile that is written as PATH.tmp under a lock. A process that dies leaves PATH.tmp
// without a lock; the next one writes over it. Not thread-safe.
class ExclusiveFile {
 public:
  struct Waiting {
    std::chrono::milliseconds longest = std::chrono::minutes(10);
    std::function<void()> begins = [] {};  // called once if another process is at work
  };

  // Nothing if another process was at work and has finished or given up meanwhile: look at PATH
  // again. Throws Error(kEnvironment) if the file cannot be made here or the wait is too long.
  static std::unique_ptr<ExclusiveFile> Begin(const std::string& path, const Waiting& waiting);

  std::string temporary_path() const { return folder_.PathOf(file_.temporary_name()); }

  // Both throw Error(kEnvironment), a full disk included.
  void Write(uint64_t offset, std::span<const std::byte> bytes);
  void Commit();

 private:
  ExclusiveFile(Folder folder, const std::string& temporary_name, std::string name, UniqueFd fd)
      : folder_(std::move(folder)),
        file_(std::move(fd), folder_, temporary_name, folder_, std::move(name)) {}

  Folder folder_;
  AtomicFile file_;
};

}  // namespace platen
