// A folder that is open: files are named relative to it, and no symbolic link below it is followed.
//
// What stands in an output folder may have been put there by somebody else. A path is looked up
// anew at every use and may lead through a link by then; a descriptor keeps leading to the same
// folder.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace platen {

// Owns a file descriptor; moves, never copies.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd();
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }  // the caller closes it
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// All members throw Error naming the path: kInput where only this name is at fault (too long, taken
// by a file, a folder or a link), kEnvironment for everything else; the failure code is kNotFound
// where nothing of the name is there. Thread-safe.
class Folder {
 public:
  enum class Missing { kFail, kCreate };

  // The folder `path`, as the user named it: links in `path` itself are followed. kCreate makes it
  // and its parents.
  static Folder Open(const std::string& path, Missing missing);

  // The folder of the file `path`, which the user named, and the file's name.
  static std::pair<Folder, std::string> OpenParent(const std::string& path, Missing missing);

  // The folder `relative` below this one ("a/b"; empty: this one), no part of which may be a link.
  Folder Below(const std::string& relative, Missing missing) const;

  // A regular file of this folder, for open(2)'s flags. Anything else of that name is refused: a
  // link, a folder, a named pipe. No descriptor if there is no such file and `flags` do not create
  // it.
  UniqueFd OpenFile(const std::string& name, int flags) const;

  // What is of that name, a link itself and not what it leads to; nothing if nothing is. (An error
  // of the disk is thrown: it does not say that nothing is there.)
  std::optional<struct stat> Look(const std::string& name) const;

  // Removes a file or a link; nothing happens if there is none.
  void Remove(const std::string& name) const;

  // Gives a file of this folder a name in `to` (on the same file system), in place of what has it.
  void Rename(const std::string& name, const Folder& to, const std::string& new_name) const;

  // Gives a symbolic link with the text `target` the name, in place of what has it.
  void Link(const std::string& name, const std::string& target) const;

  // Names of everything in it but "." and "..", in no order.
  std::vector<std::string> Names() const;

  // Makes names that were added, changed or removed last.
  void Sync() const;

  const std::string& path() const { return path_; }
  std::string PathOf(const std::string& name) const;

 private:
  Folder(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Folder Sub(const std::string& name, Missing missing) const;

  UniqueFd fd_;
  std::string path_;  // for messages
};

// Throws Error(kEnvironment), or kInput as above: "PATH: cannot ACTION: what errno `code` means".
[[noreturn]] void ThrowFileError(const std::string& path, const std::string& action, int code);

// Writes all of `bytes`, at `offset` or (negative) where the descriptor stands. Throws likewise.
void WriteAll(int fd, std::string_view bytes, const std::string& path, int64_t offset = -1);

// `size` bytes from `offset`, all of which are there. Throws Error(kEnvironment) naming `path`.
std::string ReadAll(int fd, uint64_t offset, uint64_t size, const std::string& path);

// "a/b/c" -> "a/b" and "c"; "c" -> "" and "c".
std::pair<std::string, std::string> SplitPath(const std::string& path);

}  // namespace platen
