#include "model/training/page_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "model/support/mapped_file.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little endian");

constexpr uint64_t kSeed = 0x70'6c'61'74'65'6e'31;  // of the checksums; names the format
constexpr uint64_t kMostRecordBytes = uint64_t{1} << 30;
constexpr uint32_t kMostHeaderBytes = 1 << 16;
constexpr int64_t kMostTokens = 1 << 20;
constexpr int64_t kMostWidth = 1 << 16;
constexpr int64_t kMostTeachers = 256;
constexpr int64_t kFormat = 1;

struct Frame {
  uint64_t bytes = 0;  // of the payload
  uint64_t checksum = 0;
};

template <class T>
void AppendArray(const std::vector<T>& values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

// Takes arrays off the front of a payload.
class Arrays {
 public:
  Arrays(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  template <class T>
  void Take(int64_t count, std::vector<T>& out) {
    const size_t size = static_cast<size_t>(count) * sizeof(T);
    if (size > bytes_.size()) Fail("ends before its arrays do");
    out.resize(static_cast<size_t>(count));
    if (size > 0) std::memcpy(out.data(), bytes_.data(), size);
    bytes_.remove_prefix(size);
  }
  void TakeIds(int64_t count, int64_t vocab_size, std::vector<TokenId>& out) {
    std::vector<int32_t> ids;
    Take(count, ids);
    for (const int32_t id : ids) {
      if (id < 0 || id >= vocab_size) Fail("has a token that the model does not have");
    }
    out.assign(ids.begin(), ids.end());
  }
  void End() const {
    if (!bytes_.empty()) Fail("goes on behind its arrays");
  }
  [[noreturn]] void Fail(const std::string& reason) const {
    throw Error(ErrorKind::kInput, {.file = file_, .field = "record"}, reason);
  }

 private:
  std::string_view bytes_;
  const std::string& file_;
};

bool Finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return v - v == 0; });
}

std::vector<int32_t> Ints(const std::vector<TokenId>& ids) { return {ids.begin(), ids.end()}; }

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

std::string RecordBytes(const TrainingPage& page, const RecordedWith& with) {
  const nlohmann::ordered_json header = {{"format", kFormat},
                                         {"document", ToValidUtf8(page.document)},
                                         {"place", page.place},
                                         {"base_model", with.base_model},
                                         {"precision", with.precision},
                                         {"hidden_size", with.hidden_size},
                                         {"vocab_size", with.vocab_size},
                                         {"prompt", page.prompt},
                                         {"length", page.length()},
                                         {"teacher_width", page.teacher_width}};
  const std::string text = header.dump();
  const auto length = static_cast<uint32_t>(text.size());
  std::string payload(reinterpret_cast<const char*>(&length), sizeof(length));
  payload += text;
  AppendArray(Ints(page.ids), payload);
  for (const auto& axis : page.positions) AppendArray(axis, payload);
  AppendArray(page.hidden.values(), payload);
  AppendArray(Ints(page.teacher_ids), payload);
  AppendArray(page.teacher_logits, payload);
  return payload;
}

TrainingPage ParseRecord(std::string_view payload, const std::string& file, RecordedWith& with) {
  uint32_t length = 0;
  if (payload.size() >= sizeof(length)) std::memcpy(&length, payload.data(), sizeof(length));
  if (length == 0 || length > kMostHeaderBytes || length > payload.size() - sizeof(length)) {
    throw Error(ErrorKind::kInput, {.file = file, .field = "record"}, "has no header");
  }
  payload.remove_prefix(sizeof(length));
  return WithErrorKind(ErrorKind::kInput, [&] {
    const nlohmann::json json = ParseJson(payload.substr(0, length), file, 0);
    const JsonObject header(json, file, "record");
    header.ExpectIfPresent("format", kFormat);
    TrainingPage page;
    page.document = header.String("document", kMostHeaderBytes);
    page.place = header.String("place", 64);
    with.base_model = header.String("base_model", 64);
    with.precision = header.String("precision", 16);
    with.hidden_size = header.Int64("hidden_size", 1, kMostWidth);
    with.vocab_size = header.Int64("vocab_size", 1, 1 << 24);
    const int64_t tokens = header.Int64("length", 2, kMostTokens);
    page.prompt = header.Int64("prompt", 1, tokens - 1);
    page.teacher_width = header.Int64("teacher_width", 0, kMostTeachers);
    Arrays arrays(payload.substr(length), file);
    arrays.TakeIds(tokens, with.vocab_size, page.ids);
    for (auto& axis : page.positions) arrays.Take(tokens, axis);
    // The sizes are within their caps: the product does not overflow.
    std::vector<float> hidden;
    arrays.Take((tokens - 1) * with.hidden_size, hidden);
    const int64_t teachers = (tokens - page.prompt) * page.teacher_width;
    arrays.TakeIds(teachers, with.vocab_size, page.teacher_ids);
    arrays.Take(teachers, page.teacher_logits);
    arrays.End();
    if (!Finite(hidden) || !Finite(page.teacher_logits))
      arrays.Fail("has values that are no numbers");
    page.hidden.Resize(tokens - 1, with.hidden_size);
    page.hidden.values() = std::move(hidden);
    return page;
  });
}

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

// Records of one file up to the first that is not whole.
class FileRecords {
 public:
  explicit FileRecords(const std::string& path) : file_(path), rest_(AsText(file_.data())) {}

  // Where the record lies that Next gave last.
  size_t offset() const { return AsText(file_.data()).size() - rest_.size() - bytes_; }
  void SkipTo(size_t offset) { rest_.remove_prefix(std::min(offset, rest_.size())); }

  // Nothing: the end, or what cannot be read.
  std::optional<std::string_view> Next() {
    Frame frame;
    if (rest_.size() < sizeof(frame)) return std::nullopt;
    std::memcpy(&frame, rest_.data(), sizeof(frame));
    if (frame.bytes > kMostRecordBytes || frame.bytes > rest_.size() - sizeof(frame)) {
      return std::nullopt;
    }
    const std::string_view payload = rest_.substr(sizeof(frame), frame.bytes);
    if (Hash64(payload, kSeed) != frame.checksum) return std::nullopt;
    bytes_ = sizeof(frame) + frame.bytes;
    rest_.remove_prefix(bytes_);
    return payload;
  }
  bool at_end() const { return rest_.empty(); }

 private:
  static std::string_view AsText(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  MappedFile file_;
  std::string_view rest_;
  size_t bytes_ = 0;
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
    recorded.damaged += records.at_end() ? 0 : 1;
  }
  if (pages.empty()) {
    throw Error(ErrorKind::kInput, {.file = path, .field = {}},
                "holds no recorded pages; platen tune-mtp record makes them");
  }
  for (auto& [key, page] : pages) recorded.pages.push_back(std::move(page));
  return recorded;
}

}  // namespace platen
