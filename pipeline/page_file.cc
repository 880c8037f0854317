#include "pipeline/page_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "model/support/error.h"
#include "model/support/hash.h"
#include "stages/formats/page_json.h"

namespace platen {
namespace {

[[noreturn]] void ThrowDisk(const std::string& path, const std::string& action) {
  throw Error(ErrorKind::kEnvironment, {DisplayName(path), ""},
              "cannot " + action + ": " + std::generic_category().message(errno));
}

std::string ReadAt(int fd, uint64_t offset, uint64_t length, const std::string& path) {
  std::string bytes(length, '\0');
  size_t done = 0;
  while (done < length) {
    const ssize_t n = ::pread(fd, bytes.data() + done, length - done,
                              static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowDisk(path, "read");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

// The JSON of a line "CHECKSUM JSON", if the checksum is right.
std::optional<std::string_view> CheckedJson(std::string_view line) {
  if (line.size() <= kHashHexLength || line[kHashHexLength] != ' ') return std::nullopt;
  const std::string_view json = line.substr(kHashHexLength + 1);
  if (HashHex(json) != line.substr(0, kHashHexLength)) return std::nullopt;
  return json;
}

}  // namespace

bool IsComplete(const PageResult& page) {
  return page.error.empty() &&
         std::all_of(page.regions.begin(), page.regions.end(),
                     [](const RegionResult& region) { return region.error.empty(); });
}

PageFile::PageFile(std::string path) : path_(std::move(path)) {
  Open(O_RDWR);
  if (fd_ >= 0) Load();
}

PageFile::~PageFile() {
  if (fd_ >= 0) ::close(fd_);
}

void PageFile::Open(int flags) {
  fd_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0666);
  if (fd_ < 0 && errno != ENOENT) ThrowDisk(path_, "open");
}

// Pages are read one after another, so a document of many pages is never in memory as a whole.
void PageFile::Load() {
  constexpr uint64_t kChunk = 1 << 20;
  std::string pending;  // bytes from `end_` on
  while (true) {
    const std::string chunk = ReadAt(fd_, end_ + pending.size(), kChunk, path_);
    pending += chunk;
    size_t start = 0;
    for (size_t stop; (stop = pending.find('\n', start)) != std::string::npos; start = stop + 1) {
      const auto json = CheckedJson(std::string_view(pending).substr(start, stop - start));
      if (!json) return;
      const PageResult page = PageFromJson(*json);
      entries_[page.page] = {end_ + kHashHexLength + 1, json->size(), IsComplete(page)};
      end_ += stop + 1 - start;
    }
    pending.erase(0, start);
    if (chunk.size() < kChunk) return;
  }
}

bool PageFile::HasComplete(int page) const {
  const auto found = entries_.find(page);
  return found != entries_.end() && found->second.complete;
}

void PageFile::Append(const PageResult& page) {
  if (fd_ < 0) Open(O_RDWR | O_CREAT);
  if (fd_ < 0) ThrowDisk(path_, "create");
  // Whatever follows the last valid line was cut short by a crash.
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) ThrowDisk(path_, "write");
  const std::string json = PageToJson(page);
  const std::string line = HashHex(json) + " " + json + "\n";
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::pwrite(fd_, line.data() + done, line.size() - done,
                               static_cast<off_t>(end_ + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowDisk(path_, "write");
    done += static_cast<size_t>(n);
  }
  entries_[page.page] = {end_ + kHashHexLength + 1, json.size(), IsComplete(page)};
  end_ += line.size();
}

PageResult PageFile::Read(int page) const {
  const Entry& entry = entries_.at(page);
  return PageFromJson(ReadAt(fd_, entry.offset, entry.length, path_));
}

void PageFile::Remove() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  end_ = 0;
  entries_.clear();
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT) ThrowDisk(path_, "remove");
}

}  // namespace platen
