// Files of records: a run appends to them, training reads them.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "model/support/error.h"
#include "model/support/grouped.h"
#include "model/support/hash.h"
#include "model/support/mapped_file.h"
#include "model/training/page_record.h"

namespace platen {
namespace {

constexpr uint64_t kSeed = 0x70'6c'61'74'65'6e'31;  // of the checksums; names the format
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;

struct Frame {
  uint64_t bytes = 0;  // of the payload
  uint64_t checksum = 0;
};

// What the folder holds already.
int64_t BytesIn(const Folder& folder) {
  int64_t bytes = 0;
  for (const std::string& name : folder.Names()) {
    if (!name.ends_with(PageRecorder::kEnding)) continue;
    if (const auto entry = folder.Look(name); entry && S_ISREG(entry->st_mode)) {
      bytes += entry->st_size;
    }
  }
  return bytes;
}

}  // namespace

struct PageRecorder::State {
  State(const std::string& path, RecordedWith recorded_with, int64_t most)
      : folder(Folder::Open(path, Folder::Missing::kCreate)),
        with(std::move(recorded_with)),
        most_bytes(most),
        bytes(BytesIn(folder)) {}

  // The first name that nobody has.
  void OpenFile() {
    for (int number = 1;; ++number) {
      name = std::to_string(number);
      name = std::string(6 - std::min<size_t>(6, name.size()), '0') + name + kEnding;
      if (folder.Look(name)) continue;
      fd = folder.OpenFile(name, O_WRONLY | O_CREAT | O_EXCL);
      return;
    }
  }

  std::mutex mutex;
  Folder folder;
  const RecordedWith with;
  const int64_t most_bytes;
  int64_t bytes;
  int64_t pages = 0;
  std::string name;
  UniqueFd fd;
};

PageRecorder::PageRecorder(const std::string& folder, RecordedWith with, int64_t most_bytes)
    : state_(std::make_unique<State>(folder, std::move(with), most_bytes)) {}

PageRecorder::~PageRecorder() {
  if (state_->fd) ::fsync(state_->fd.get());
}

bool PageRecorder::Add(const TrainingPage& page) {
  const std::string payload = RecordBytes(page, state_->with);
  const Frame frame = {payload.size(), Hash64(payload, kSeed)};
  std::string bytes(reinterpret_cast<const char*>(&frame), sizeof(frame));
  bytes += payload;
  const std::lock_guard lock(state_->mutex);
  if (state_->bytes + static_cast<int64_t>(bytes.size()) > state_->most_bytes) return false;
  if (!state_->fd) state_->OpenFile();
  WriteAll(state_->fd.get(), bytes, state_->folder.PathOf(state_->name));
  state_->bytes += static_cast<int64_t>(bytes.size());
  ++state_->pages;
  return true;
}

int64_t PageRecorder::pages() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pages;
}

namespace {

// Records of one file up to the first that is not whole; those whose checksum is wrong are left
// out.
class FileRecords {
 public:
  explicit FileRecords(const std::string& path) : file_(path), rest_(AsText(file_.data())) {}

  // Where the record lies that Next gave last.
  size_t offset() const { return AsText(file_.data()).size() - rest_.size() - bytes_; }
  void SkipTo(size_t offset) { rest_.remove_prefix(std::min(offset, rest_.size())); }

  // Nothing: the end, or what cannot be read.
  std::optional<std::string_view> Next() {
    for (Frame frame; rest_.size() >= sizeof(frame); ++damaged_) {
      std::memcpy(&frame, rest_.data(), sizeof(frame));
      if (frame.bytes == 0) break;  // zeros, as a loss of power leaves them
      if (frame.bytes > kMostRecordBytes || frame.bytes > rest_.size() - sizeof(frame)) break;
      const std::string_view payload = rest_.substr(sizeof(frame), frame.bytes);
      bytes_ = sizeof(frame) + frame.bytes;
      rest_.remove_prefix(bytes_);
      if (Hash64(payload, kSeed) == frame.checksum) return payload;
    }
    return std::nullopt;
  }
  int64_t damaged() const { return damaged_; }
  size_t unread() const { return rest_.size(); }

 private:
  static std::string_view AsText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  MappedFile file_;
  std::string_view rest_;
  size_t bytes_ = 0;
  int64_t damaged_ = 0;
};

// The record at this place, checked as at first: the file may be another one by now.
TrainingPage ReadAgain(const std::string& path, size_t offset, const RecordedWith& expected,
                       const std::string& document, const std::string& place) {
  FileRecords records(path);
  records.SkipTo(offset);
  RecordedWith with;
  TrainingPage page;
  if (const auto payload = records.Next()) page = ParseRecord(*payload, path, with);
  if (with != expected || page.document != document || page.place != place) {
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "was changed while its records were in use");
  }
  return page;
}

// What is held of a page; the rest is read when it is used.
TrainingPage Light(TrainingPage whole, const std::string& path, size_t offset,
                   const RecordedWith& with) {
  TrainingPage page;
  page.document = std::move(whole.document);
  page.place = std::move(whole.place);
  page.ids = std::move(whole.ids);
  page.prompt = whole.prompt;
  page.read = [path, offset, with, document = page.document, place = page.place] {
    return ReadAgain(path, offset, with, document, place);
  };
  return page;
}

int64_t BytesHeld(const TrainingPage& page) {
  constexpr size_t kOfObjects = 1024;
  return static_cast<int64_t>(page.ids.size() * sizeof(page.ids[0]) + kOfObjects);
}

std::vector<std::string> RecordFiles(const Folder& folder) {
  std::vector<std::string> names;
  for (const std::string& name : folder.Names()) {
    const auto entry = folder.Look(name);
    if (name.ends_with(PageRecorder::kEnding) && entry && S_ISREG(entry->st_mode)) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void RefuseNothing(const std::string& path, bool damaged) {
  const std::string reason =
      damaged ? "holds nothing that can be read, its files are damaged; remove the folder, and "
                "platen tune-mtp record --force records the pages again"
              : "holds no recorded pages; platen tune-mtp record makes them of pages with text "
                "(of pages that were read already with --force)";
  throw Error(ErrorKind::kInput, {.file = path, .field = {}}, reason);
}

}  // namespace

RecordedPages ReadRecords(const std::string& path, int64_t most_bytes) {
  const Folder folder = Folder::Open(path, Folder::Missing::kFail);
  RecordedPages recorded;
  std::map<std::pair<std::string, std::string>, TrainingPage> pages;
  int64_t bytes = 0;
  for (const std::string& name : RecordFiles(folder)) {
    FileRecords records(folder.PathOf(name));
    while (const auto payload = records.Next()) {
      RecordedWith with;
      TrainingPage page = ParseRecord(*payload, folder.PathOf(name), with);
      bytes += BytesHeld(page);
      if (bytes > most_bytes) {
        throw Error(ErrorKind::kEnvironment, {.file = path, .field = {}},
                    "the records need more than " + std::to_string(most_bytes >> 20) +
                        " MiB of memory; record fewer pages");
      }
      if (pages.empty()) recorded.with = with;
      if (with != recorded.with) {
        throw Error(ErrorKind::kInput, {.file = folder.PathOf(name), .field = {}},
                    "was recorded with another model or precision than the files before it; train "
                    "on one of them");
      }
      std::pair key(page.document, page.place);
      pages.insert_or_assign(std::move(key),
                             Light(std::move(page), folder.PathOf(name), records.offset(), with));
    }
    recorded.damaged += records.damaged();
    recorded.torn += records.unread() > 0 ? 1 : 0;
    recorded.torn_bytes += static_cast<int64_t>(records.unread());
  }
  if (pages.empty()) RefuseNothing(path, recorded.damaged + recorded.torn > 0);
  for (auto& [key, page] : pages) recorded.pages.push_back(std::move(page));
  return recorded;
}

}  // namespace platen
