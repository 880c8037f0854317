// A server that does not come back, for a program that is started with this library in LD_PRELOAD:
// reads of files whose path has HANGING_READ in it wait for ever, but for the first HANGING_AFTER.
// So do opens, with HANGING_OPEN.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

template <typename Function>
Function Real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

bool Hangs(const char* variable, const char* path) {
  const char* name = std::getenv(variable);
  return name != nullptr && *name != '\0' && std::strstr(path, name) != nullptr;
}

bool Hangs(int fd) {
  char link[64], path[4096];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  const ssize_t n = ::readlink(link, path, sizeof(path) - 1);
  if (n < 0) return false;
  path[n] = '\0';
  return Hangs("HANGING_READ", path);
}

std::atomic<int> reads{0};

int After() {
  const char* text = std::getenv("HANGING_AFTER");
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* bytes, size_t size, off_t offset) {
  if (Hangs(fd) && ++reads > After()) {
    while (true) ::pause();
  }
  static const auto real = Real<ssize_t (*)(int, void*, size_t, off_t)>("pread");
  return real(fd, bytes, size, offset);
}

ssize_t preadv2(int fd, const iovec* into, int count, off_t offset, int flags) {
  if (Hangs(fd)) return -1;  // nothing of it is in the cache
  static const auto real = Real<ssize_t (*)(int, const iovec*, int, off_t, int)>("preadv2");
  return real(fd, into, count, offset, flags);
}

int statfs(const char* path, struct statfs* info) {
  static const auto real = Real<int (*)(const char*, struct statfs*)>("statfs");
  const int code = real(path, info);
  info->f_type = 0x65735546;  // FUSE
  return code;
}

int open(const char* path, int flags, ...) {
  while (Hangs("HANGING_OPEN", path)) ::pause();
  std::va_list list;
  va_start(list, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
  va_end(list);
  static const auto real = Real<int (*)(const char*, int, ...)>("open");
  return real(path, flags, mode);
}

}  // extern "C"
