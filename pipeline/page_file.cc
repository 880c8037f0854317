#include "pipeline/page_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "model/support/atomic_file.h"
#include "model/support/compress.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/json_fields.h"
#include "model/support/utf8.h"
#include "stages/formats/page_json.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

// The bytes of a record: 4 of the payload's length and 8 of its checksum, the lowest first, and the
// payload, compressed JSON.
constexpr size_t kLengthBytes = 4, kChecksumBytes = 8, kRecordHead = kLengthBytes + kChecksumBytes;
// What claims to be longer was not written by us.
constexpr size_t kMaxPayload = kMostStoredPageBytes;
constexpr int kMaxPages = 1'000'000;
constexpr uint64_t kCopyBytes = 1 << 20;

// The file is the run's own: whatever is wrong with it is the environment's fault.
template <typename Work>
auto OnOwnFile(Work&& work) {
  return WithErrorKind(ErrorKind::kEnvironment, std::forward<Work>(work));
}

void AddNumber(uint64_t number, size_t bytes, std::string& out) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i));
}

uint64_t NumberFrom(std::string_view bytes) {
  uint64_t number = 0;
  for (size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[i]);
  return number;
}

std::string RecordOf(const std::string& json) {
  const std::string payload = Compress(json);
  std::string record;
  AddNumber(payload.size(), kLengthBytes, record);
  AddNumber(Hash64(payload, 0), kChecksumBytes, record);
  return record + payload;
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

[[noreturn]] void ThrowCutShort(const std::string& path) {
  throw Error(ErrorKind::kEnvironment, {path, ""}, "has been cut short meanwhile");
}

// The JSON in a payload whose checksum is right.
std::optional<std::string> CheckedJson(std::string_view record) {
  const std::string_view payload = record.substr(kRecordHead);
  if (Hash64(payload, 0) != NumberFrom(record.substr(kLengthBytes, kChecksumBytes))) {
    return std::nullopt;
  }
  return Decompress(payload, kMostStoredPageBytes);
}

std::string HeadToJson(const PageFileHead& head) {
  Json settings = Json::array();
  for (const DocumentSetting& setting : head.settings) {
    settings.push_back({setting.name, ToValidUtf8(setting.value), setting.is_literal});
  }
  return Json{{"of_pages", head.of_pages}, {"settings", settings}}.dump();
}

std::optional<PageFileHead> StoredHead(const std::string& text) {
  try {
    const Json json = ParseShallow<Json>(text);
    PageFileHead head;
    if (!json.at("of_pages").is_number_integer()) return std::nullopt;
    const auto of_pages = json.at("of_pages").get<int64_t>();
    if (of_pages < 1 || of_pages > kMaxPages) return std::nullopt;
    head.of_pages = static_cast<int>(of_pages);
    for (const Json& setting : json.at("settings")) {
      head.settings.push_back({setting.at(0).get<std::string>(), setting.at(1).get<std::string>(),
                               setting.at(2).get<bool>()});
      // Printed as it is.
      if (head.settings.back().is_literal && !Json::accept(head.settings.back().value)) {
        return std::nullopt;
      }
    }
    return head;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::optional<PageResult> StoredPage(std::string_view json) {
  try {
    return PageFromJson(json);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Of a page: parts that take JSON, and bytes of text.
struct PageAmount {
  size_t parts = 1, bytes = 0;

  void Add(const std::string& text, const std::vector<std::string>& warnings) {
    ++parts;
    bytes += text.size();
    for (const std::string& warning : warnings) bytes += warning.size();
  }
  void Add(const RegionResult& region) {
    Add(region.text, region.warnings);
    parts += region.tokens.size() + (region.table ? region.table->cells.size() : 0);
    for (const LineResult& line : region.lines) {
      Add(line.text, line.warnings);
      parts += line.tokens.size() + line.words.size();
    }
  }
};

}  // namespace

bool CanBeStored(const PageResult& page) {
  // No part takes more besides its text, of which a byte becomes six at most; the text stands in
  // regions, cells or lines, and words.
  constexpr size_t kMostPerPart = 800, kMostPerByte = 3 * 6;
  PageAmount amount;
  amount.Add(page.error, page.warnings);
  for (const RegionResult& region : page.regions) amount.Add(region);
  return kMostPerPart * amount.parts + kMostPerByte * amount.bytes <= kMostStoredPageBytes ||
         PageToJson(page).size() <= kMostStoredPageBytes;
}

bool IsComplete(const PageResult& page) {
  return page.error.empty() &&
         std::all_of(page.regions.begin(), page.regions.end(),
                     [](const RegionResult& region) { return region.error.empty(); });
}

bool PublishPart(const Folder& parts, const std::string& name, const Folder& folder) {
  const auto part = parts.Look(name);
  if (!part) return false;
  const auto there = folder.Look(name);
  if (there && S_ISREG(there->st_mode) && there->st_size >= part->st_size) {
    parts.Remove(name);
    return false;
  }
  try {
    parts.Rename(name, folder, name);
    return true;
  } catch (const Error&) {
    if (parts.Look(name)) throw;
    return false;
  }
}

PageFile::PageFile(Folder folder, std::string name, std::shared_ptr<const Folder> parts)
    : folder_(std::move(folder)), name_(std::move(name)), parts_(std::move(parts)) {
  fd_ = OnOwnFile([&] { return folder_.OpenFile(name_, O_RDWR); });
  if (fd_) OnOwnFile([&] { Load(); });
}

// Pages are read one after another, so a document of many pages is never in memory as a whole.
void PageFile::Load() {
  const std::string path = folder_.PathOf(name_);
  while (true) {
    const std::string start = ReadAt(fd_.get(), end_, kRecordHead, path);
    if (start.size() < kRecordHead) return;
    const uint64_t length = NumberFrom(std::string_view(start).substr(0, kLengthBytes));
    if (length > kMaxPayload) return;
    const std::string record = ReadAt(fd_.get(), end_, kRecordHead + length, path);
    if (record.size() < kRecordHead + length) return;
    const std::optional<std::string> json = CheckedJson(record);
    if (!json || !Take(*json, end_, record.size())) return;
    end_ += record.size();
  }
}

bool PageFile::Take(std::string_view json, uint64_t offset, uint64_t bytes) {
  if (!head_) {
    head_ = StoredHead(std::string(json));
    head_entry_ = {offset, bytes, true};
    return head_.has_value();
  }
  const std::optional<PageResult> page = StoredPage(json);
  if (!page || page->page < 1 || page->page > head_->of_pages) return false;
  entries_[page->page] = {offset, bytes, IsComplete(*page)};
  return true;
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

void PageFile::Append(const PageFileHead& head, const PageResult& page) {
  OnOwnFile([&] {
    OpenForAppending();
    // Whatever follows the last valid record was cut short by a crash.
    if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0) {
      ThrowFileError(folder_.PathOf(name_), "write", errno);
    }
    if (!head_) {
      head_entry_ = AppendRecord(HeadToJson(head), /*complete=*/true);
      head_ = head;
    }
    entries_[page.page] = AppendRecord(PageToJson(page), IsComplete(page));
  });
}

void PageFile::OpenForAppending() {
  if (!parts_) {
    if (!is_own_) fd_ = OpenOwn(folder_, name_, O_RDWR | O_CREAT, end_);
    is_own_ = true;
    return;
  }
  if (is_part_) return;
  UniqueFd part = OpenAnew(*parts_, name_, O_RDWR);
  for (uint64_t done = 0; done < end_;) {
    const std::string bytes =
        ReadAt(fd_.get(), done, std::min<uint64_t>(kCopyBytes, end_ - done), folder_.PathOf(name_));
    if (bytes.empty()) ThrowCutShort(folder_.PathOf(name_));
    WriteAll(part.get(), bytes, parts_->PathOf(name_), static_cast<int64_t>(done));
    done += bytes.size();
  }
  fd_ = std::move(part);
  is_part_ = true;
}

PageFile::Entry PageFile::AppendRecord(const std::string& json, bool complete) {
  const std::string record = RecordOf(json);
  WriteAll(fd_.get(), record, folder_.PathOf(name_), static_cast<int64_t>(end_));
  const Entry entry = {end_, record.size(), complete};
  end_ += record.size();
  return entry;
}

std::string PageFile::ReadRecord(const Entry& entry) const {
  const std::string path = folder_.PathOf(name_);
  std::string record = ReadAt(fd_.get(), entry.offset, entry.bytes, path);
  if (record.size() < entry.bytes) ThrowCutShort(path);
  return record;
}

PageResult PageFile::Read(int page) const {
  return OnOwnFile([&] {
    const std::optional<std::string> json = CheckedJson(ReadRecord(entries_.at(page)));
    if (!json) {
      throw Error(ErrorKind::kEnvironment, {folder_.PathOf(name_), ""},
                  "has been damaged meanwhile");
    }
    return PageFromJson(*json);
  });
}

bool PageFile::Publish() {
  if (!is_part_) return parts_ == nullptr;
  is_part_ = false;
  return OnOwnFile([&] { return PublishPart(*parts_, name_, folder_); });
}

void PageFile::Compact(const Folder& temporary) {
  uint64_t held = head_entry_.bytes;
  for (const auto& [page, entry] : entries_) held += entry.bytes;
  if (end_ <= 2 * held) return;
  OnOwnFile([&] {
    AtomicFile file(temporary, "results", folder_, name_);
    file.Append(ReadRecord(head_entry_));
    for (const auto& [page, entry] : entries_) file.Append(ReadRecord(entry));
    file.Commit();
    head_.reset();
    entries_.clear();
    end_ = 0;
    fd_ = folder_.OpenFile(name_, O_RDWR);
    Load();
  });
}

}  // namespace platen
