#include "pipeline/ledger.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/support/digest.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/utf8.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kLedgerName[] = "ledger.jsonl";
constexpr size_t kMaxLineBytes = 8 << 20;  // a record names every output of the largest document
constexpr size_t kChunkBytes = 1 << 20;
constexpr int kMaxPages = 1'000'000;  // of a document, in a record
// A file that was changed so shortly before it was read may change again with the same time:
// clocks of file systems tick slowly.
constexpr int64_t kSettledNs = 2'000'000'000;

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
  std::vector<char> chunk(kChunkBytes);
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

// Nanoseconds since 1970, as stamps count them.
int64_t Now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

constexpr char kStampKeys[][9] = {"size", "modified", "changed", "inode"};

Json ToJson(const FileStamp& stamp) {
  return {{kStampKeys[0], stamp.bytes},
          {kStampKeys[1], stamp.modified_ns},
          {kStampKeys[2], stamp.changed_ns},
          {kStampKeys[3], stamp.inode}};
}

FileStamp StampFrom(const Json& json) {
  FileStamp stamp;
  stamp.bytes = json.at(kStampKeys[0]).get<uint64_t>();
  stamp.modified_ns = json.at(kStampKeys[1]).get<int64_t>();
  stamp.changed_ns = json.at(kStampKeys[2]).get<int64_t>();
  stamp.inode = json.at(kStampKeys[3]).get<uint64_t>();
  return stamp;
}

std::string NameFrom(const Json& json, const char* key) {
  if (auto name = NameFromDisplay(json.at(key).get_ref<const std::string&>())) return *name;
  throw Error(ErrorKind::kEnvironment, {"", key}, "is no name");
}

// Nothing for records of earlier versions, which have none.
KnownInput KnownFrom(const Json& json) {
  KnownInput known;
  if (!json.contains("sha256")) return known;
  known.key = json.at("key").get<std::string>();
  known.content.sha256 = json.at("sha256").get<std::string>();
  if (!IsHex(known.key, kHashHexLength) || !IsHex(known.content.sha256, kSha256HexLength)) {
    throw Error(ErrorKind::kEnvironment, {"", "key"}, "is no key");
  }
  if (json.at("kind").get<std::string>() == InputKindName(InputKind::kPdf)) {
    known.content.kind = InputKind::kPdf;
  }
  known.stamp = StampFrom(json.at("file"));
  return known;
}

// Throws whatever is wrong with the line.
DocumentRecord RecordFrom(const Json& json) {
  DocumentRecord record;
  record.output = NameFrom(json, "output");
  record.name = NameFrom(json, "name");
  if (json.contains("source")) record.source = NameFrom(json, "source");
  record.input = KnownFrom(json);
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

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
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
      temporary_(OpenBelow(state_, "tmp")),
      results_(OpenBelow(state_, "results")) {
  OnOwnFolder([&] {
    TakeLock();
    EmptyTemporaryFolder();
    Load();
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
    if (!json.contains("output")) return;  // of version 0.1: its outputs are made anew
    DocumentRecord record = RecordFrom(json);
    const std::string output = record.output;
    for (const auto& [suffix, bytes] : record.output_bytes) {
      const std::string format = FormatOfSuffix(suffix);
      if (!format.empty() && NamingOf(format).per_page) page_files_[output].insert(suffix);
    }
    documents_[output] = std::move(record);
  } catch (const nlohmann::json::exception&) {
    ++damaged_records_;
  } catch (const Error&) {
    ++damaged_records_;
  }
}

void Ledger::OpenForAppending() {
  ledger_ = state_.OpenFile(kLedgerName, O_RDWR | O_CREAT | O_APPEND);
  char last = '\n';
  const off_t size = ::lseek(ledger_.get(), 0, SEEK_END);
  if (size > 0 && ::pread(ledger_.get(), &last, 1, size - 1) == 1 && last != '\n') AppendLine("");
}

KnownInput Ledger::Know(const InputDocument& input) const {
  KnownInput known;
  known.stamp = InputStamp(input.path);
  const bool settled = Now() - known.stamp.changed_ns > kSettledNs;
  const DocumentRecord* record = Find(input.output);
  if (!identity_.verify_inputs && record != nullptr && !record->input.key.empty() &&
      record->input.stamp == known.stamp) {
    known.content = record->input.content;
  } else {
    known.content = ReadContent(input.path);
  }
  Hasher hasher;
  hasher.Add(known.content.sha256);
  hasher.Add(identity_.of(known.content.kind).fingerprint);
  if (identity_.names_outputs) hasher.Add(input.output);
  if (!settled) known.stamp = {};
  known.key = hasher.Hex();
  return known;
}

const DocumentRecord* Ledger::Find(const std::string& output) const {
  const auto found = documents_.find(output);
  return found == documents_.end() ? nullptr : &found->second;
}

void Ledger::ForEach(const std::function<void(const DocumentRecord&)>& visit) const {
  for (const auto& [output, record] : documents_) visit(record);
}

// Of any size if `bytes` is negative.
bool Ledger::HasOutput(const std::string& output, const std::string& suffix, int64_t bytes) const {
  const auto [parent, base] = SplitPath(output);
  try {
    const auto info = root_.Below(parent, Folder::Missing::kFail).Look(base + "." + suffix);
    return info && S_ISREG(info->st_mode) && (bytes < 0 || info->st_size == bytes);
  } catch (const Error&) {
    return false;
  }
}

bool Ledger::IsFinished(const KnownInput& known, const InputDocument& input,
                        const std::vector<PageRange>& chosen) const {
  const DocumentRecord* record = Find(input.output);
  if (record == nullptr || record->input.key != known.key || record->failed > 0) return false;
  if (record->rendering != identity_.rendering) return false;
  const std::vector<int> wanted = SelectPages(chosen, record->of_pages);
  if (wanted.empty()) return false;
  const auto held = [&](int page) { return Holds(record->pages, page); };
  if (!std::all_of(wanted.begin(), wanted.end(), held)) return false;
  return std::all_of(identity_.formats.begin(), identity_.formats.end(),
                     [&](const std::string& format) { return HasOutputs(*record, format); });
}

// All files of the format, as they were recorded.
bool Ledger::HasOutputs(const DocumentRecord& record, const std::string& format) const {
  const auto has = [&](int page) {
    const std::string suffix = OutputSuffix(format, page, record.of_pages);
    const auto bytes = record.output_bytes.find(suffix);
    return bytes != record.output_bytes.end() && bytes->second >= 0 &&
           HasOutput(record.output, suffix, bytes->second);
  };
  if (!NamingOf(format).per_page) return has(0);
  const std::vector<int> pages = SelectPages(record.pages, record.of_pages);
  return std::all_of(pages.begin(), pages.end(), has);
}

bool Ledger::HoldsSuccess(const InputDocument& input) const {
  const auto has = [&](const std::string& suffix) {
    return HasOutput(input.output, suffix, /*bytes=*/-1);
  };
  const auto of_format = [&](const std::string& format) {
    return has(OutputSuffix(format, 1, 1)) || has(OutputSuffix(format, 1, 2));
  };
  const auto recorded = page_files_.find(input.output);
  const bool there = std::any_of(identity_.formats.begin(), identity_.formats.end(), of_format) ||
                     (recorded != page_files_.end() &&
                      std::any_of(recorded->second.begin(), recorded->second.end(), has));
  const DocumentRecord* record = Find(input.output);
  return there && (record == nullptr || record->failed == 0);
}

void Ledger::AppendLine(const std::string& line) {
  OnOwnFolder([&] { WriteAll(ledger_.get(), line + "\n", state_.PathOf(kLedgerName)); });
}

void Ledger::RecordRun(const std::string& version, const std::string& model_id) {
  AppendLine(Json{{"record", "run"},
                  {"version", version},
                  {"model", model_id},
                  {"fingerprint", identity_.images.fingerprint},
                  {"fingerprint_pdf", identity_.pdfs.fingerprint},
                  {"formats", identity_.formats}}
                 .dump());
}

void Ledger::RecordPage(const std::string& key, const std::string& name, const PageResult& page) {
  Json json{{"record", "page"},
            {"key", key},
            {"name", DisplayName(name)},
            {"page", page.page},
            {"status", IsComplete(page) ? "ok" : "failed"},
            {"regions", page.regions.size()}};
  if (!page.error.empty()) json["error"] = ToValidUtf8(page.error);
  AppendLine(json.dump());
}

void Ledger::RemoveStalePages(const std::string& output,
                              const std::vector<WrittenFile>& written) const {
  const auto recorded = page_files_.find(output);
  if (recorded == page_files_.end()) return;
  std::set<std::string> kept;
  for (const WrittenFile& file : written) kept.insert(file.suffix);
  const auto [parent, base] = SplitPath(output);
  const Folder folder = root_.Below(parent, Folder::Missing::kFail);
  for (const std::string& suffix : recorded->second) {
    const bool of_this_run =
        std::count(identity_.formats.begin(), identity_.formats.end(), FormatOfSuffix(suffix)) > 0;
    const std::string name = base + "." + suffix;
    const auto info = folder.Look(name);
    if (!of_this_run || kept.contains(suffix) || !info || !S_ISREG(info->st_mode)) continue;
    folder.Remove(name);
  }
}

void Ledger::RecordDocument(DocumentRecord record, const std::vector<int>& pages) {
  const std::string page_list = FormatPageRanges(pages);
  const DocumentRecord* earlier = Find(record.output);
  if (earlier != nullptr && earlier->input.key == record.input.key &&
      earlier->rendering == record.rendering && earlier->failed == record.failed &&
      SelectPages(earlier->pages, earlier->of_pages) == pages) {
    record.output_bytes.insert(earlier->output_bytes.begin(), earlier->output_bytes.end());
  }
  Json json = {{"record", "document"},
               {"key", record.input.key},
               {"name", DisplayName(record.name)},
               {"output", DisplayName(record.output)},
               {"source", DisplayName(Absolute(record.source))},
               {"sha256", record.input.content.sha256},
               {"kind", InputKindName(record.input.content.kind)},
               {"file", ToJson(record.input.stamp)},
               {"pages", pages.size()},
               {"page_list", page_list},
               {"of", record.of_pages},
               {"failed", record.failed},
               {"outputs", record.output_bytes}};
  if (!record.rendering.empty()) json["rendering"] = record.rendering;
  AppendLine(json.dump());
  if (::fdatasync(ledger_.get()) != 0 && errno != EINVAL) {
    const int code = errno;
    OnOwnFolder([&] { ThrowFileError(state_.PathOf(kLedgerName), "sync", code); });
  }
}

}  // namespace platen
