#include "pipeline/record_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr size_t kMaxLineBytes = 8 << 20;  // a record names every output of the largest document
constexpr size_t kChunkBytes = 1 << 20;
// About 100 million pages; a sparse file of any size takes no room and would be read for days.
constexpr int64_t kMaxFileBytes = int64_t{16} << 30;

void CheckSize(int fd, const std::string& path) {
  struct stat info = {};
  if (::fstat(fd, &info) != 0) ThrowFileError(path, "read", errno);
  if (info.st_size <= kMaxFileBytes) return;
  throw Error(ErrorKind::kEnvironment, {DisplayName(path), ""},
              "is larger than any file of records that platen writes (16 GiB); move it away");
}

// False at the end of the file.
bool ReadMore(int fd, const std::string& path, std::vector<char>& chunk, std::string& to) {
  ssize_t n;
  do {
    n = ::read(fd, chunk.data(), chunk.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0) ThrowFileError(path, "read", errno);
  to.append(chunk.data(), static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

void ForEachLineOf(const Folder& folder, const std::string& name,
                   const std::function<void(const std::string&)>& visit) {
  const UniqueFd file = folder.OpenFile(name, O_RDONLY);
  if (!file) return;
  const std::string path = folder.PathOf(name);
  CheckSize(file.get(), path);
  std::string pending;
  std::vector<char> chunk(kChunkBytes);
  bool too_long = false;  // the line that `pending` belongs to
  while (ReadMore(file.get(), path, chunk, pending)) {
    size_t start = 0;
    for (size_t end; (end = pending.find('\n', start)) != std::string::npos; start = end + 1) {
      if (!too_long) visit(pending.substr(start, end - start));
      too_long = false;
    }
    pending.erase(0, start);
    if (pending.size() <= kMaxLineBytes) continue;
    too_long = true;
    pending.clear();
  }
  if (!too_long && !pending.empty()) visit(pending);
}

}  // namespace platen
