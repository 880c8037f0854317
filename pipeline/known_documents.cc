#include "pipeline/known_documents.h"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <iterator>

#include "model/support/error.h"
#include "model/support/hash.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

// A file that was changed so shortly before it was read may change again with the same time:
// clocks of file systems tick slowly.
constexpr int64_t kSettledNs = 2'000'000'000;

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

KnownDocuments::KnownDocuments(Folder root, ResultIdentity identity, const Shard& shard)
    : root_(std::move(root)), identity_(std::move(identity)), shard_(shard) {}

void KnownDocuments::Load(const Folder& folder) {
  const auto see = [this](int64_t run) {
    next_run_ = std::max(next_run_, std::min(run + 1, kMaxRun));
  };
  LedgerVisitor visitor;
  visitor.start = see;
  visitor.document = [&](DocumentRecord record) {
    see(record.run);
    if (shard_.Holds(record.output)) LoadRecord(std::move(record));
  };
  damaged_records_ += ReadLedger(folder, visitor);
}

// Of two records of a document that of the later run counts, of one run the later.
void KnownDocuments::LoadRecord(DocumentRecord record) {
  for (const auto& [suffix, bytes] : record.output_bytes) {
    const std::string format = FormatOfSuffix(suffix);
    if (!format.empty() && NamingOf(format).per_page) page_files_[record.output].insert(suffix);
  }
  DocumentRecord& known = documents_[record.output];
  if (record.run >= known.run) known = std::move(record);
}

KnownInput KnownDocuments::Know(const InputDocument& input, double patience_s) const {
  KnownInput known;
  known.stamp = InputStamp(input.path);
  const bool settled = known.stamp.changed_ns < Now() - kSettledNs;
  const DocumentRecord* record = Find(input.output);
  if (!identity_.verify_inputs && record != nullptr && !record->input.key.empty() &&
      record->input.stamp == known.stamp) {
    known.content = record->input.content;
  } else {
    known.content = ReadContent(input.path, patience_s);
  }
  Hasher hasher;
  hasher.Add(known.content.sha256);
  hasher.Add(identity_.of(known.content.kind).fingerprint);
  if (identity_.names_outputs) hasher.Add(input.output);
  if (!settled) known.stamp = {};
  known.key = hasher.Hex();
  return known;
}

const DocumentRecord* KnownDocuments::Find(const std::string& output) const {
  const auto found = documents_.find(output);
  return found == documents_.end() ? nullptr : &found->second;
}

void KnownDocuments::ForEach(const std::function<void(const DocumentRecord&)>& visit) const {
  for (const auto& [output, record] : documents_) visit(record);
}

// Null: there is none.
std::shared_ptr<const Folder> KnownDocuments::FolderOf(const std::string& parent) const {
  const std::lock_guard lock(folder_mutex_);
  if (folder_ && folder_name_ == parent) return folder_;
  try {
    folder_ = std::make_shared<const Folder>(root_.Below(parent, Folder::Missing::kFail));
  } catch (const Error& e) {
    // A disk that does not answer must not make a document look unread.
    if (e.kind() == ErrorKind::kEnvironment && e.code() != FailureCode::kNotFound) throw;
    return nullptr;
  }
  folder_name_ = parent;
  return folder_;
}

// Of any size if `bytes` is negative.
bool KnownDocuments::HasOutput(const std::string& output, const std::string& suffix,
                               int64_t bytes) const {
  const auto [parent, base] = SplitPath(output);
  const auto folder = FolderOf(parent);
  if (!folder) return false;
  const auto info = folder->Look(base + "." + suffix);
  return info && S_ISREG(info->st_mode) && (bytes < 0 || info->st_size == bytes);
}

bool KnownDocuments::IsFinished(const KnownInput& known, const InputDocument& input,
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
bool KnownDocuments::HasOutputs(const DocumentRecord& record, const std::string& format) const {
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

bool KnownDocuments::HoldsSuccess(const InputDocument& input) const {
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

std::set<std::string> KnownDocuments::PageFiles(const std::string& output) const {
  const auto recorded = page_files_.find(output);
  return recorded == page_files_.end() ? std::set<std::string>() : recorded->second;
}

void LoadLedgers(const Folder& common, KnownDocuments& known,
                 const std::function<void(const Folder&)>& visit) {
  known.Load(common);
  for (const Shard& other : ShardsIn(common)) {
    // Its documents are none of these.
    if (other.count == known.shard().count && other != known.shard()) continue;
    const Folder folder = common.Below(ShardPath(other), Folder::Missing::kFail);
    if (visit) visit(folder);
    known.Load(folder);
  }
}

}  // namespace platen
