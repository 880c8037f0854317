#include "pipeline/page_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>

#include "model/support/error.h"
#include "model/support/hash.h"
#include "stages/formats/page_json.h"

namespace platen {
namespace {

// No page result is longer; what claims to be was not written by us.
constexpr size_t kMaxLineBytes = size_t{256} << 20;

// The file is the run's own: whatever is wrong with it is the environment's fault.
template <typename Work>
auto OnOwnFile(Work&& work) {
  return WithErrorKind(ErrorKind::kEnvironment, std::forward<Work>(work));
}

std::string ReadAt(int fd, uint64_t offset, uint64_t length, const std::string& path) {
  std::string bytes(length, '\0');
  size_t done = 0;
  while (done < length) {
    const ssize_t n =
        ::pread(fd, bytes.data() + done, length - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowFileError(path, "read", errno);
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

std::optional<PageResult> StoredPage(std::string_view json) {
  try {
    return PageFromJson(json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

bool IsComplete(const PageResult& page) {
  return page.error.empty() &&
         std::all_of(page.regions.begin(), page.regions.end(),
                     [](const RegionResult& region) { return region.error.empty(); });
}

PageFile::PageFile(const Folder& folder, std::string name)
    : folder_(folder), name_(std::move(name)) {
  fd_ = OnOwnFile([&] { return folder_.OpenFile(name_, O_RDWR); });
  if (fd_) Load();
}

// Pages are read one after another, so a document of many pages is never in memory as a whole.
void PageFile::Load() {
  constexpr uint64_t kChunk = 1 << 20;
  std::string pending;  // bytes from `end_` on
  while (true) {
    const std::string chunk =
        ReadAt(fd_.get(), end_ + pending.size(), kChunk, folder_.PathOf(name_));
    pending += chunk;
    size_t start = 0;
    for (size_t stop; (stop = pending.find('\n', start)) != std::string::npos; start = stop + 1) {
      const auto json = CheckedJson(std::string_view(pending).substr(start, stop - start));
      const auto page = json ? StoredPage(*json) : std::nullopt;
      if (!page) return;
      entries_[page->page] = {end_ + kHashHexLength + 1, json->size(), IsComplete(*page)};
      end_ += stop + 1 - start;
    }
    pending.erase(0, start);
    if (chunk.size() < kChunk || pending.size() > kMaxLineBytes) return;
  }
}

bool PageFile::HasComplete(int page) const {
  const auto found = entries_.find(page);
  return found != entries_.end() && found->second.complete;
}

std::vector<int> PageFile::CompletePages() const {
  std::vector<int> pages;
  for (const auto& [page, entry] : entries_) {
    if (entry.complete) pages.push_back(page);
  }
  return pages;
}

void PageFile::Append(const PageResult& page) {
  OnOwnFile([&] {
    if (!fd_) fd_ = folder_.OpenFile(name_, O_RDWR | O_CREAT);
    // Whatever follows the last valid line was cut short by a crash.
    if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0) {
      ThrowFileError(folder_.PathOf(name_), "write", errno);
    }
    const std::string json = PageToJson(page);
    const std::string line = HashHex(json) + " " + json + "\n";
    WriteAll(fd_.get(), line, folder_.PathOf(name_), static_cast<int64_t>(end_));
    entries_[page.page] = {end_ + kHashHexLength + 1, json.size(), IsComplete(page)};
    end_ += line.size();
  });
}

PageResult PageFile::Read(int page) const {
  const Entry& entry = entries_.at(page);
  return PageFromJson(ReadAt(fd_.get(), entry.offset, entry.length, folder_.PathOf(name_)));
}

void PageFile::Remove() {
  fd_ = UniqueFd();
  end_ = 0;
  entries_.clear();
  OnOwnFile([&] { folder_.Remove(name_); });
}

}  // namespace platen
