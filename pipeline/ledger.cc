#include "pipeline/ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <nlohmann/json.hpp>

#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/hash.h"
#include "model/support/utf8.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kCommonName[] = ".platen", kTemporaryName[] = "tmp", kPartsName[] = "parts";
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

// Only files are ever made there.
void EmptyFolder(const Folder& folder) {
  for (const std::string& name : folder.Names()) {
    const auto info = folder.Look(name);
    if (info && !S_ISDIR(info->st_mode)) folder.Remove(name);
  }
}

// Of ranges that ascend and are apart.
bool Holds(const std::vector<PageRange>& ranges, int page) {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), page,
                       [](int number, const PageRange& range) { return number < range.first; });
  return after != ranges.begin() && page <= std::prev(after)->last;
}

// Nanoseconds since 1970, as stamps count them.
int64_t Now() {
  return std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

Ledger::Ledger(const std::string& output_dir, ResultIdentity identity, const Shard& shard)
    : identity_(std::move(identity)),
      shard_(shard),
      root_(OpenRoot(output_dir)),
      common_(OpenBelow(root_, kCommonName)),
      state_(OpenBelow(common_, shard.is_all() ? "" : ShardPath(shard))),
      temporary_(OpenBelow(state_, kTemporaryName)),
      results_(OpenBelow(common_, "results"),
               shard.is_all() ? nullptr
                              : std::make_shared<const Folder>(OpenBelow(state_, kPartsName))) {
  OnOwnFolder([&] {
    lock_ = std::make_unique<RunLock>(common_, state_, shard_);
    EmptyFolder(temporary_);
    Load(common_);
    for (const Shard& other : ShardsIn(common_)) {
      // Its documents are none of this run's.
      if (other.count == shard_.count && other != shard_) continue;
      const Folder folder = common_.Below(ShardPath(other), Folder::Missing::kFail);
      TakeLeftovers(folder);
      Load(folder);
    }
    OpenForAppending();
  });
}

// What a run of the shard had on its way when it was cut off.
void Ledger::TakeLeftovers(const Folder& shard) const {
  if (shard.Look(kTemporaryName)) {
    EmptyFolder(shard.Below(kTemporaryName, Folder::Missing::kFail));
  }
  if (shard.Look(kPartsName)) {
    results_.PublishAll(shard.Below(kPartsName, Folder::Missing::kFail));
  }
}

void Ledger::Load(const Folder& folder) {
  const auto see = [this](int64_t run) { run_ = std::max(run_, std::min(run + 1, kMaxRun)); };
  LedgerVisitor visitor;
  visitor.start = see;
  visitor.document = [&](DocumentRecord record) {
    see(record.run);
    if (shard_.Holds(record.output)) LoadRecord(std::move(record));
  };
  damaged_records_ += ReadLedger(folder, visitor);
}

// Of two records of a document that of the later run counts, of one run the later.
void Ledger::LoadRecord(DocumentRecord record) {
  for (const auto& [suffix, bytes] : record.output_bytes) {
    const std::string format = FormatOfSuffix(suffix);
    if (!format.empty() && NamingOf(format).per_page) page_files_[record.output].insert(suffix);
  }
  DocumentRecord& known = documents_[record.output];
  if (record.run >= known.run) known = std::move(record);
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
                  {"run", run_},
                  {"version", version},
                  {"model", model_id},
                  {"fingerprint", identity_.images.fingerprint},
                  {"fingerprint_pdf", identity_.pdfs.fingerprint},
                  {"formats", identity_.formats}}
                 .dump());
}

void Ledger::RecordEnd(const RunEnd& end) { AppendLine(RunEndLine(run_, end)); }

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
  const DocumentRecord* earlier = Find(record.output);
  if (earlier != nullptr && earlier->input.key == record.input.key &&
      earlier->rendering == record.rendering && earlier->failed == record.failed &&
      SelectPages(earlier->pages, earlier->of_pages) == pages) {
    record.output_bytes.insert(earlier->output_bytes.begin(), earlier->output_bytes.end());
  }
  record.run = run_;
  AppendLine(DocumentLine(record, pages));
  if (::fdatasync(ledger_.get()) != 0 && errno != EINVAL) {
    const int code = errno;
    OnOwnFolder([&] { ThrowFileError(state_.PathOf(kLedgerName), "sync", code); });
  }
}

}  // namespace platen
