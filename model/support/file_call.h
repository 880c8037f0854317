// Which call to a file system is going on, and since when: a server that does not answer stops a
// call for ever and without an error, and the thread that waits in it can say nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace platen {

// Lives as long as the call. Cheap beside any call of the system. Thread-safe: each is made and
// destroyed by one thread, any number at a time.
class FileCall {
 public:
  // The call is on `path`, or on the file `name` below it; both outlive this object.
  explicit FileCall(const std::string& path, std::string_view name = {});
  ~FileCall();
  FileCall(const FileCall&) = delete;
  FileCall& operator=(const FileCall&) = delete;

  struct Waiting {
    std::string path;
    int64_t since_ns;  // MonotonicNs()
  };
  // Of all that are going on, that which began first.
  static std::optional<Waiting> Longest();

 private:
  const std::string& path_;
  const std::string_view name_;
  const int64_t since_ns_;
  FileCall* earlier_;
  FileCall* later_ = nullptr;
};

}  // namespace platen
