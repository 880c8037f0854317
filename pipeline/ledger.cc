#include "pipeline/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/utf8.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kLedgerName[] = "ledger.jsonl";
constexpr size_t kMaxLineBytes = 1 << 20;
constexpr int kMaxPages = 1'000'000;  // of a document, in a record

// The state folder is the run's own: whatever is wrong with it is the environment's fault.
template <typename Work>
auto OnOwnFolder(Work&& work) {
  return WithErrorKind(ErrorKind::kEnvironment, std::forward<Work>(work));
}

Folder OpenRoot(const std::string& output_dir) {
  return OnOwnFolder([&] { return Folder::Open(output_dir, Folder::Missing::kCreate); });
}

Folder OpenBelow(const Folder& folder, const std::string& name) {
  return OnOwnFolder([&] { return folder.Below(name, Folder::Missing::kCreate); });
}

// Calls visit with every line of the file that is no longer than kMaxLineBytes. A last line without
// an end was cut short by a crash and is a line like any other: it is no JSON.
template <typename Visit>
void ForEachLine(int fd, const std::string& path, const Visit& visit) {
  std::string pending;
  std::vector<char> chunk(kMaxLineBytes);
  bool too_long = false;  // the line that `pending` belongs to
  while (true) {
    const ssize_t n = ::read(fd, chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowFileError(path, "read", errno);
    if (n == 0) break;
    pending.append(chunk.data(), static_cast<size_t>(n));
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

// Ascending and apart, so that a page is found at once among however many ranges a record lists.
std::vector<PageRange> Merged(std::vector<PageRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const PageRange& a, const PageRange& b) { return a.first < b.first; });
  std::vector<PageRange> merged;
  for (const PageRange& range : ranges) {
    if (merged.empty() || range.first > merged.back().last) {
      merged.push_back(range);
    } else {
      merged.back().last = std::max(merged.back().last, range.last);
    }
  }
  return merged;
}

// Of ranges from Merged.
bool Holds(const std::vector<PageRange>& ranges, int page) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), page,
                       [](int number, const PageRange& range) { return number < range.first; });
  return after != ranges.begin() && page <= std::prev(after)->last;
}

int CountFrom(const Json& json, const char* key) {
  const Json& value = json.at(key);
  if (!value.is_number_integer() || value.get<int64_t>() < 0 || value.get<int64_t>() > kMaxPages) {
    throw Error(ErrorKind::kEnvironment, {"", key}, "is no count of pages");
  }
  return value.get<int>();
}

// Throws whatever is wrong with the line. Records of version 0.1 have neither "page_list" nor "of":
// they stand for whole documents.
DocumentRecord RecordFrom(const Json& json) {
  DocumentRecord record;
  record.num_pages = CountFrom(json, "pages");
  record.failed = CountFrom(json, "failed");
  record.of_pages = json.contains("of") ? CountFrom(json, "of") : record.num_pages;
  if (!json.contains("page_list")) {
    record.pages = {{1, record.num_pages}};
  } else if (const auto list = json.at("page_list").get<std::string>(); !list.empty()) {
    record.pages = Merged(ParsePageRanges(list));
  }
  record.output_bytes = json.at("outputs").get<std::map<std::string, int64_t>>();
  record.rendering = json.value("rendering", std::string());
  return record;
}

}  // namespace

std::string FormatPageRanges(const std::vector<int>& pages) {
  std::string text;
  for (size_t i = 0; i < pages.size();) {
    size_t last = i;
    while (last + 1 < pages.size() && pages[last + 1] == pages[last] + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(pages[i]);
    if (last > i) text += "-" + std::to_string(pages[last]);
    i = last + 1;
  }
  return text;
}

Ledger::Ledger(const std::string& output_dir, ResultIdentity identity)
    : identity_(std::move(identity)),
      root_(OpenRoot(output_dir)),
      state_(OpenBelow(root_, ".platen")),
      pages_(OpenBelow(state_, "pages")),
      temporary_(OpenBelow(state_, "tmp")) {
  OnOwnFolder([&] {
    TakeLock();
    EmptyTemporaryFolder();
    Load();
    SweepPages();
    OpenForAppending();
  });
}

void Ledger::TakeLock() {
  lock_ = state_.OpenFile("lock", O_RDWR | O_CREAT);
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) return;  // a file system without locks: the user's care
  throw Error(ErrorKind::kEnvironment, {DisplayName(root_.path()), ""},
              "another platen run is writing to this folder");
}

// Only files are ever made there.
void Ledger::EmptyTemporaryFolder() const {
  for (const std::string& name : temporary_.Names()) {
    const auto info = temporary_.Look(name);
    if (info && !S_ISDIR(info->st_mode)) temporary_.Remove(name);
  }
}

void Ledger::Load() {
  const UniqueFd file = state_.OpenFile(kLedgerName, O_RDONLY);
  if (!file) return;
  ForEachLine(file.get(), state_.PathOf(kLedgerName),
              [&](const std::string& line) { LoadLine(line); });
}

// Lines that are no records (cut short by a crash) say nothing: their documents are done again.
void Ledger::LoadLine(const std::string& line) {
  if (line.find("\"document\"") == std::string::npos) return;
  try {
    const Json json = Json::parse(line);
    if (json.at("record").get<std::string>() != "document") return;
    const auto key = json.at("key").get<std::string>();
    DocumentRecord record = RecordFrom(json);
    if (json.contains("output")) {
      complete_by_output_[json.at("output").get<std::string>()] = record.failed == 0;
    }
    documents_[key] = std::move(record);
  } catch (const nlohmann::json::exception&) {
    ++damaged_records_;
  } catch (const Error&) {
    ++damaged_records_;
  }
}

// A kill between a document's record and the removal of its pages leaves them behind.
void Ledger::SweepPages() const {
  constexpr std::string_view kSuffix = ".jsonl";
  for (const std::string& name : pages_.Names()) {
    if (!name.ends_with(kSuffix)) continue;
    const DocumentRecord* record = Find(name.substr(0, name.size() - kSuffix.size()));
    const auto info = pages_.Look(name);
    if (record != nullptr && record->whole() && info && !S_ISDIR(info->st_mode)) {
      pages_.Remove(name);
    }
  }
}

void Ledger::OpenForAppending() {
  ledger_ = state_.OpenFile(kLedgerName, O_RDWR | O_CREAT | O_APPEND);
  char last = '\n';
  const off_t size = ::lseek(ledger_.get(), 0, SEEK_END);
  if (size > 0 && ::pread(ledger_.get(), &last, 1, size - 1) == 1 && last != '\n') AppendLine("");
}

std::string Ledger::KeyOf(const InputDocument& input, const std::string& output) const {
  struct stat info = {};
  if (::stat(input.path.c_str(), &info) != 0) {
    throw Error(ErrorKind::kInput, {DisplayName(input.path), ""},
                std::generic_category().message(errno));
  }
  Hasher hasher;
  hasher.Add(output);
  hasher.Add(std::to_string(info.st_size));
  hasher.Add(std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec));
  hasher.Add(identity_.fingerprint);
  return hasher.Hex();
}

const DocumentRecord* Ledger::Find(const std::string& key) const {
  const auto found = documents_.find(key);
  return found == documents_.end() ? nullptr : &found->second;
}

// Of any size if `bytes` is negative.
bool Ledger::HasOutput(const InputDocument& input, const std::string& format, int64_t bytes) const {
  const auto [parent, base] = SplitPath(input.output);
  try {
    const auto info = root_.Below(parent, Folder::Missing::kFail).Look(base + "." + format);
    return info && S_ISREG(info->st_mode) && (bytes < 0 || info->st_size == bytes);
  } catch (const Error&) {
    return false;
  }
}

bool Ledger::IsFinished(const std::string& key, const InputDocument& input,
                        const std::vector<PageRange>& chosen) const {
  const DocumentRecord* record = Find(key);
  if (record == nullptr || record->failed > 0) return false;
  if (record->rendering != identity_.rendering) return false;
  const std::vector<int> wanted = SelectPages(chosen, record->of_pages);
  if (wanted.empty()) return false;
  const auto held = [&](int page) { return Holds(record->pages, page); };
  if (!std::all_of(wanted.begin(), wanted.end(), held)) return false;
  return std::all_of(identity_.formats.begin(), identity_.formats.end(),
                     [&](const std::string& format) {
                       const auto bytes = record->output_bytes.find(format);
                       return bytes != record->output_bytes.end() && bytes->second >= 0 &&
                              HasOutput(input, format, bytes->second);
                     });
}

bool Ledger::HoldsSuccess(const std::string& key, const InputDocument& input) const {
  const bool there = std::any_of(
      identity_.formats.begin(), identity_.formats.end(),
      [&](const std::string& format) { return HasOutput(input, format, /*bytes=*/-1); });
  if (!there) return false;
  const auto known = complete_by_output_.find(DisplayName(input.output));
  if (known != complete_by_output_.end()) return known->second;
  const DocumentRecord* record = Find(key);  // of version 0.1, which did not name the output
  return record == nullptr || record->failed == 0;
}

std::unique_ptr<PageFile> Ledger::OpenPages(const std::string& key) const {
  return std::make_unique<PageFile>(pages_, key + ".jsonl");
}

void Ledger::AppendLine(const std::string& line) {
  OnOwnFolder([&] { WriteAll(ledger_.get(), line + "\n", state_.PathOf(kLedgerName)); });
}

void Ledger::RecordRun(const std::string& version, const std::string& model_id) {
  AppendLine(Json{{"record", "run"},
                  {"version", version},
                  {"model", model_id},
                  {"fingerprint", identity_.fingerprint},
                  {"formats", identity_.formats}}
                 .dump());
}

void Ledger::RecordPage(const std::string& key, const InputDocument& input,
                        const PageResult& page) {
  Json json{{"record", "page"},
            {"key", key},
            {"name", DisplayName(input.shown_name())},
            {"page", page.page},
            {"status", IsComplete(page) ? "ok" : "failed"},
            {"regions", page.regions.size()}};
  if (!page.error.empty()) json["error"] = ToValidUtf8(page.error);
  AppendLine(json.dump());
}

void Ledger::RecordDocument(const std::string& key, const InputDocument& input,
                            const std::vector<int>& pages, int of_pages, int failed,
                            const std::vector<WrittenFile>& outputs) {
  Json sizes = Json::object();
  for (size_t i = 0; i < outputs.size(); ++i) sizes[identity_.formats[i]] = outputs[i].bytes;
  Json record = {{"record", "document"},
                 {"key", key},
                 {"name", DisplayName(input.shown_name())},
                 {"output", DisplayName(input.output)},
                 {"pages", pages.size()},
                 {"page_list", FormatPageRanges(pages)},
                 {"of", of_pages},
                 {"failed", failed},
                 {"outputs", sizes}};
  if (!identity_.rendering.empty()) record["rendering"] = identity_.rendering;
  AppendLine(record.dump());
  if (::fdatasync(ledger_.get()) != 0 && errno != EINVAL) {
    const int code = errno;
    OnOwnFolder([&] { ThrowFileError(state_.PathOf(kLedgerName), "sync", code); });
  }
}

}  // namespace platen
