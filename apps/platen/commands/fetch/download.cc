#include "apps/platen/commands/fetch/download.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "apps/platen/commands/fetch/digest.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

// The file that is being filled, from its start.
class PartialFile {
 public:
  PartialFile(const CacheWriter& cache, const HubFile& file)
      : file_(file),
        path_(cache.blobs().PathOf(CacheWriter::PartialName(file))),
        fd_(cache.blobs().OpenFile(CacheWriter::PartialName(file), O_RDWR | O_CREAT)),
        bytes_(cache.PartialBytes(file)) {
    if (bytes_ > file.size) Empty();
  }

  int fd() const { return fd_.get(); }
  int64_t bytes() const { return bytes_; }
  int64_t most_bytes() const { return most_bytes_; }  // that there ever were
  const std::string& path() const { return path_; }

  void Empty() {
    if (::ftruncate(fd_.get(), 0) != 0) ThrowFileError(path_, "empty", errno);
    bytes_ = 0;
  }

  void Append(std::string_view bytes) {
    if (std::ssize(bytes) > file_.size - bytes_) {
      Empty();
      throw Error(ErrorKind::kEnvironment, {.file = DisplayName(file_.path), .field = {}},
                  "the server sends more than the " + Counted(file_.size, "byte") +
                      " that the hub announced; what came was deleted");
    }
    WriteAll(fd_.get(), bytes, path_, bytes_);
    bytes_ += std::ssize(bytes);
    most_bytes_ = std::max(most_bytes_, bytes_);
  }

  void Sync() const {
    if (::fsync(fd_.get()) != 0) ThrowFileError(path_, "sync", errno);
  }

 private:
  const HubFile& file_;
  std::string path_;
  UniqueFd fd_;
  int64_t bytes_;
  int64_t most_bytes_ = bytes_;
};

// One request for what is missing.
HubClient::Outcome FetchRest(const DownloadSource& source, const HubFile& file,
                             PartialFile& partial) {
  const int64_t had = partial.bytes(), had_most = partial.most_bytes();
  bool fits = false;  // what comes to what is there
  bool begun = false;
  std::string failure = source.hub.Open(
      source.model, source.commit, file, had, [&](const HttpHead& head, std::string_view bytes) {
        if (!std::exchange(begun, true)) {
          // A server that does not know Range sends the file from its start.
          if (head.status == 200) partial.Empty();
          fits =
              head.status == 200 || head.content_range.starts_with(fmt::format("bytes {}-", had));
        }
        if (!fits) return;
        partial.Append(bytes);
        source.on_bytes(partial.bytes());
      });
  if (failure.empty() && partial.bytes() < file.size) {
    failure = fmt::format("the connection ended after {} of {}", Grouped(partial.bytes()),
                          Counted(file.size, "byte"));
    if (!fits && had > 0) partial.Empty();  // the server does not give the rest: all of it then
  }
  return {failure, partial.most_bytes() > had_most};
}

// Whether the bytes are those that the hub announced. Wrong ones are removed.
bool Verify(const CacheWriter& cache, const HubFile& file, PartialFile& partial, bool resumed) {
  const std::string digest = DigestOf(file, partial.fd(), partial.path());
  if (digest == file.digest) return true;
  partial.Empty();
  if (resumed) return false;
  cache.blobs().Remove(CacheWriter::PartialName(file));
  throw Error(ErrorKind::kEnvironment, {.file = DisplayName(file.path), .field = {}},
              fmt::format("the bytes that came are not those the hub announced ({} {}, announced "
                          "{}); they were deleted. Try again; if it stays so, the server or what "
                          "lies between changes files",
                          DigestName(file), digest, file.digest));
}

}  // namespace

void Download(const DownloadSource& source, const CacheWriter& cache, const HubFile& file) {
  // The hub's own programs hold this lock while they download the file.
  const FileLock lock(cache.locks(), file.digest + ".lock", [] {});
  if (cache.Has(file)) return;
  PartialFile partial(cache, file);
  bool resumed = partial.bytes() > 0;
  do {
    source.hub.Persist(DisplayName(file.path), [&]() -> HubClient::Outcome {
      if (partial.bytes() == file.size) return {};
      return FetchRest(source, file, partial);
    });
    // What an earlier run left may be of other bytes; then all of it is fetched once more.
  } while (!Verify(cache, file, partial, std::exchange(resumed, false)));
  partial.Sync();
  cache.blobs().Rename(CacheWriter::PartialName(file), cache.blobs(), file.digest);
  cache.blobs().Sync();
}

}  // namespace platen
