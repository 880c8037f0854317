#include "pipeline/ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/support/atomic_file.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "model/support/file_call.h"
#include "model/support/utf8.h"
#include "pipeline/own_folder.h"
#include "stages/formats/document_writer.h"

namespace platen {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kCommonName[] = ".platen", kTemporaryName[] = "tmp", kPartsName[] = "parts";

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

}  // namespace

Ledger::Ledger(const std::string& output_dir, ResultIdentity identity, const Shard& shard)
    : KnownDocuments(OpenRoot(output_dir), std::move(identity), shard),
      common_(OpenBelow(root(), kCommonName)),
      state_(OpenBelow(common_, shard.is_all() ? "" : ShardPath(shard))),
      temporary_(OpenBelow(state_, kTemporaryName)),
      results_(OpenBelow(common_, "results"),
               shard.is_all() ? nullptr
                              : std::make_shared<const Folder>(OpenBelow(state_, kPartsName))) {
  OnOwnFolder([&] {
    lock_ = std::make_unique<RunLock>(common_, state_, shard);
    EmptyFolder(temporary_);
    LoadLedgers(common_, *this, [this](const Folder& other) { TakeLeftovers(other); });
    OpenForAppending();
    SyncFolders();
  });
}

// A crash must not take the ledger away and leave the outputs of failures that it knows of.
void Ledger::SyncFolders() const {
  state_.Sync();
  if (!shard().is_all()) common_.Below(ShardsFolder(), Folder::Missing::kFail).Sync();
  common_.Sync();
  root().Sync();
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

void Ledger::OpenForAppending() {
  ledger_ = OpenOwn(state_, kLedgerName, O_RDWR | O_CREAT | O_APPEND);
  char last = '\n';
  const off_t size = ::lseek(ledger_.get(), 0, SEEK_END);
  if (size > 0 && ::pread(ledger_.get(), &last, 1, size - 1) < 0) {
    ThrowFileError(state_.PathOf(kLedgerName), "read", errno);
  }
  if (last != '\n') AppendLine("");
}

void Ledger::AppendLine(const std::string& line) {
  OnOwnFolder([&] { WriteAll(ledger_.get(), line + "\n", state_.PathOf(kLedgerName)); });
}

void Ledger::RecordRun(const std::string& version, const std::string& model_id) {
  AppendLine(Json{{"record", "run"},
                  {"run", next_run()},
                  {"version", version},
                  {"model", model_id},
                  {"fingerprint", identity().images.fingerprint},
                  {"fingerprint_pdf", identity().pdfs.fingerprint},
                  {"formats", identity().formats}}
                 .dump());
}

void Ledger::RecordEnd(const RunEnd& end) { AppendLine(RunEndLine(next_run(), end)); }

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
  const std::set<std::string> recorded = PageFiles(output);
  if (recorded.empty()) return;
  std::set<std::string> kept;
  for (const WrittenFile& file : written) kept.insert(file.suffix);
  const auto [parent, base] = SplitPath(output);
  const Folder folder = root().Below(parent, Folder::Missing::kFail);
  for (const std::string& suffix : recorded) {
    const bool of_this_run = std::count(identity().formats.begin(), identity().formats.end(),
                                        FormatOfSuffix(suffix)) > 0;
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
  record.run = next_run();
  AppendLine(DocumentLine(record, pages));
  synced_ = false;
}

void Ledger::Sync() {
  if (std::exchange(synced_, true)) return;
  const FileCall call(state_.path(), kLedgerName);
  if (::fdatasync(ledger_.get()) != 0 && errno != EINVAL) {
    const int code = errno;
    OnOwnFolder([&] { ThrowFileError(state_.PathOf(kLedgerName), "sync", code); });
  }
}

}  // namespace platen
