// A disk that is full from one moment on, for a program that is started with this library in
// LD_PRELOAD. Calls that take space below FULL_DISK_BELOW are counted; number FULL_DISK_AT and all
// that follow fail with ENOSPC. The count is written to FULL_DISK_COUNT when the process ends.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

std::atomic<long> calls{0};

const char* Below() { return std::getenv("FULL_DISK_BELOW"); }

bool IsBelow(const char* path) {
  const char* below = Below();
  return below != nullptr && path != nullptr && std::strncmp(path, below, std::strlen(below)) == 0;
}

bool FdIsBelow(int fd) {
  char link[64], path[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t n = ::readlink(link, path, sizeof(path) - 1);
  if (n < 0) return false;
  path[n] = '\0';
  return IsBelow(path);
}

// True if the call that is about to be made fails.
bool Fails() {
  static const long at = [] {
    const char* text = std::getenv("FULL_DISK_AT");
    return text == nullptr ? 0L : std::atol(text);
  }();
  const bool full = ++calls >= at && at > 0;
  if (full) errno = ENOSPC;
  return full;
}

template <typename Function>
Function Real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

__attribute__((destructor)) void WriteCount() {
  const char* path = std::getenv("FULL_DISK_COUNT");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "w");
  if (file == nullptr) return;
  std::fprintf(file, "%ld", calls.load());
  std::fclose(file);
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t count) {
  if (FdIsBelow(fd) && Fails()) return -1;
  static const auto real = Real<ssize_t (*)(int, const void*, size_t)>("write");
  return real(fd, bytes, count);
}

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t offset) {
  if (FdIsBelow(fd) && Fails()) return -1;
  static const auto real = Real<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return real(fd, bytes, count, offset);
}

int fsync(int fd) {
  if (FdIsBelow(fd) && Fails()) return -1;
  static const auto real = Real<int (*)(int)>("fsync");
  return real(fd);
}

int fdatasync(int fd) {
  if (FdIsBelow(fd) && Fails()) return -1;
  static const auto real = Real<int (*)(int)>("fdatasync");
  return real(fd);
}

int openat(int folder, const char* name, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_CREAT) != 0 && FdIsBelow(folder) && Fails()) return -1;
  static const auto real = Real<int (*)(int, const char*, int, ...)>("openat");
  return real(folder, name, flags, mode);
}

int mkdirat(int folder, const char* name, mode_t mode) {
  if (FdIsBelow(folder) && Fails()) return -1;
  static const auto real = Real<int (*)(int, const char*, mode_t)>("mkdirat");
  return real(folder, name, mode);
}

int mkdir(const char* path, mode_t mode) {
  if (IsBelow(path) && Fails()) return -1;
  static const auto real = Real<int (*)(const char*, mode_t)>("mkdir");
  return real(path, mode);
}

int renameat(int from, const char* name, int to, const char* new_name) {
  if (FdIsBelow(to) && Fails()) return -1;
  static const auto real = Real<int (*)(int, const char*, int, const char*)>("renameat");
  return real(from, name, to, new_name);
}

}  // extern "C"
