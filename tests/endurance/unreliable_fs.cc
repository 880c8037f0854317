// A folder as a bad network shows it: calls take time, some fail, some are carried out and reported
// as failed, writes are short, and reads of some files never come back.
//
//   unreliable_fs BACKING MOUNTPOINT [--seed N] [--delay-us N] [--fail P] [--hang NAME] [--counts
//   FILE]
//
// Shows the folder BACKING below MOUNTPOINT, by FUSE, until it is unmounted (fusermount3 -u) or
// gets SIGTERM. Nothing is cached by the system but pages of files. A call takes --delay-us
// microseconds on the average, a close ten times as long; a share --fail of them fails with EIO,
// ESTALE or ETIMEDOUT, and those that take space with ENOSPC too. A read of a file whose path has
// NAME in it waits for ever. --counts: how many calls of each kind have failed, written at the end.
#define FUSE_USE_VERSION 34
#include <dirent.h>
#include <fcntl.h>
#include <fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Faults {
  std::string backing, hang, counts;
  double delay_us = 0, share = 0;
  std::mutex mutex;
  std::mt19937_64 random;
  std::map<std::string, long> failed;
} faults;

enum class Takes { kNoSpace, kSpace };

std::string Under(const char* path) { return faults.backing + path; }

// Waits as long as the call takes. The error that it ends with, or 0.
int Fault(const char* call, Takes space, double slower = 1) {
  double delay_us = 0;
  int error = 0;
  {
    const std::lock_guard lock(faults.mutex);
    if (faults.delay_us > 0) {
      delay_us = std::exponential_distribution(1 / (slower * faults.delay_us))(faults.random);
    }
    if (std::uniform_real_distribution()(faults.random) < faults.share) {
      const std::vector<int> errors = {EIO, ESTALE, ETIMEDOUT, ENOSPC};
      error = errors[faults.random() % (space == Takes::kSpace ? 4 : 3)];
      ++faults.failed[call];
    }
  }
  std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(delay_us));
  return -error;
}

// True for a third: the call is carried out, only its answer is lost.
bool IsDoneAllTheSame() {
  const std::lock_guard lock(faults.mutex);
  return faults.random() % 3 == 0;
}

int Errno(int result) { return result < 0 ? -errno : 0; }

// A call that changes names.
template <typename Call>
int Change(const char* name, Takes space, const Call& call) {
  const int error = Fault(name, space);
  if (error != 0 && !IsDoneAllTheSame()) return error;
  const int result = Errno(call());
  return error != 0 ? error : result;
}

int GetAttributes(const char* path, struct stat* info, fuse_file_info* file) {
  if (const int error = Fault("stat", Takes::kNoSpace)) return error;
  if (file != nullptr) return Errno(::fstat(static_cast<int>(file->fh), info));
  return Errno(::lstat(Under(path).c_str(), info));
}

int ReadLink(const char* path, char* text, size_t size) {
  const ssize_t n = ::readlink(Under(path).c_str(), text, size - 1);
  if (n < 0) return -errno;
  text[n] = '\0';
  return 0;
}

int MakeFolder(const char* path, mode_t mode) {
  return Change("mkdir", Takes::kSpace, [&] { return ::mkdir(Under(path).c_str(), mode); });
}

int Unlink(const char* path) {
  return Change("unlink", Takes::kNoSpace, [&] { return ::unlink(Under(path).c_str()); });
}

int RemoveFolder(const char* path) {
  return Change("rmdir", Takes::kNoSpace, [&] { return ::rmdir(Under(path).c_str()); });
}

int Symlink(const char* target, const char* path) {
  return Change("symlink", Takes::kSpace, [&] { return ::symlink(target, Under(path).c_str()); });
}

int Rename(const char* from, const char* to, unsigned int flags) {
  if (flags != 0) return -EINVAL;
  return Change("rename", Takes::kNoSpace,
                [&] { return ::rename(Under(from).c_str(), Under(to).c_str()); });
}

int Truncate(const char* path, off_t size, fuse_file_info* file) {
  return Change("truncate", Takes::kSpace, [&] {
    return file != nullptr ? ::ftruncate(static_cast<int>(file->fh), size)
                           : ::truncate(Under(path).c_str(), size);
  });
}

int OpenWith(const char* path, int flags, mode_t mode, fuse_file_info* file) {
  const int fd = ::open(Under(path).c_str(), flags & ~O_NOFOLLOW & ~O_APPEND, mode);
  if (fd < 0) return -errno;
  file->fh = static_cast<uint64_t>(fd);
  file->direct_io = (flags & O_ACCMODE) != O_RDONLY;  // writes come as they are made
  return 0;
}

int Open(const char* path, fuse_file_info* file) {
  if (const int error = Fault("open", Takes::kNoSpace)) return error;
  return OpenWith(path, file->flags, 0, file);
}

int Create(const char* path, mode_t mode, fuse_file_info* file) {
  const int error = Fault("create", Takes::kSpace);
  if (error != 0 && !IsDoneAllTheSame()) return error;
  const int result = OpenWith(path, file->flags | O_CREAT, mode, file);
  if (error == 0 || result != 0) return error != 0 ? error : result;
  ::close(static_cast<int>(file->fh));
  return error;
}

int Read(const char* path, char* bytes, size_t size, off_t offset, fuse_file_info* file) {
  while (!faults.hang.empty() && std::strstr(path, faults.hang.c_str()) != nullptr) ::pause();
  if (const int error = Fault("read", Takes::kNoSpace)) return error;
  const ssize_t n = ::pread(static_cast<int>(file->fh), bytes, size, offset);
  return n < 0 ? -errno : static_cast<int>(n);
}

int Write(const char*, const char* bytes, size_t size, off_t offset, fuse_file_info* file) {
  const int error = Fault("write", Takes::kSpace);
  // Of a write that fails a part may have got there; one that does not may be short.
  std::optional<size_t> part;
  {
    const std::lock_guard lock(faults.mutex);
    const bool is_short =
        size > 1 && std::uniform_real_distribution()(faults.random) < 10 * faults.share;
    if (error != 0 || is_short) part = 1 + faults.random() % size;
  }
  const ssize_t n =
      ::pwrite(static_cast<int>(file->fh), bytes, std::min(part.value_or(size), size), offset);
  if (error != 0) return error;
  return n < 0 ? -errno : static_cast<int>(n);
}

int StatFs(const char* path, struct statvfs* info) {
  return Errno(::statvfs(Under(path).c_str(), info));
}

int Flush(const char*, fuse_file_info*) { return Fault("close", Takes::kSpace, 10); }

int Release(const char*, fuse_file_info* file) {
  ::close(static_cast<int>(file->fh));
  return 0;
}

int Sync(const char*, int, fuse_file_info*) { return Fault("fsync", Takes::kSpace, 10); }

int ReadFolder(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
               fuse_readdir_flags) {
  if (const int error = Fault("readdir", Takes::kNoSpace)) return error;
  DIR* folder = ::opendir(Under(path).c_str());
  if (folder == nullptr) return -errno;
  while (const dirent* entry = ::readdir(folder)) {
    fill(buffer, entry->d_name, nullptr, 0, static_cast<fuse_fill_dir_flags>(0));
  }
  ::closedir(folder);
  return 0;
}

void* Begin(fuse_conn_info*, fuse_config* config) {
  config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
  config->use_ino = 1;
  config->nullpath_ok = 0;
  return nullptr;
}

fuse_operations Operations() {
  fuse_operations calls = {};
  calls.init = Begin;
  calls.getattr = GetAttributes;
  calls.readlink = ReadLink;
  calls.mkdir = MakeFolder;
  calls.unlink = Unlink;
  calls.rmdir = RemoveFolder;
  calls.symlink = Symlink;
  calls.rename = Rename;
  calls.truncate = Truncate;
  calls.open = Open;
  calls.create = Create;
  calls.read = Read;
  calls.write = Write;
  calls.statfs = StatFs;
  calls.flush = Flush;
  calls.release = Release;
  calls.fsync = Sync;
  calls.fsyncdir = Sync;
  calls.readdir = ReadFolder;
  return calls;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc % 2 == 0) {
    std::fprintf(stderr, "usage: unreliable_fs BACKING MOUNTPOINT [--OPTION VALUE]...\n");
    return 2;
  }
  faults.backing = argv[1];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--seed") faults.random.seed(std::strtoull(value.c_str(), nullptr, 10));
    if (option == "--delay-us") faults.delay_us = std::strtod(value.c_str(), nullptr);
    if (option == "--fail") faults.share = std::strtod(value.c_str(), nullptr);
    if (option == "--hang") faults.hang = value;
    if (option == "--counts") faults.counts = value;
  }
  ::umask(0);
  std::vector<std::string> arguments = {argv[0], "-f", "-o", "fsname=unreliable", argv[2]};
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const fuse_operations calls = Operations();
  const int code = fuse_main(static_cast<int>(pointers.size()), pointers.data(), &calls, nullptr);
  std::ofstream counts(faults.counts);
  for (const auto& [call, times] : faults.failed) counts << call << ' ' << times << '\n';
  return code;
}
