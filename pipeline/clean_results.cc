#include "pipeline/clean_results.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "model/support/error.h"
#include "model/support/hash.h"
#include "pipeline/result_store.h"

namespace platen {
namespace {

struct StoredFile {
  int64_t added_to_s = 0;
  std::string key;
  int64_t bytes = 0;
};

// Calls `visit` with each folder of results and the name of each file of ours in it.
template <typename Visit>
void ForEachFile(const Folder& results, const Visit& visit) {
  for (const std::string& name : results.Names()) {
    if (!IsHex(name, kResultFolderDigits)) continue;
    const Folder folder = results.Below(name, Folder::Missing::kFail);
    for (const std::string& key : folder.Names()) {
      const auto info = folder.Look(key);
      if (!IsHex(key, kHashHexLength) || !info || !S_ISREG(info->st_mode)) continue;
      visit(StoredFile{info->st_mtim.tv_sec, key, info->st_size});
    }
  }
}

}  // namespace

CleanedResults CleanResults(const Folder& results, const ResultsToClean& choice, bool dry_run) {
  CleanedResults cleaned;
  // Times of files go further than those of clocks.
  const int64_t limit = choice.before ? std::chrono::system_clock::to_time_t(*choice.before)
                                      : std::numeric_limits<int64_t>::max();
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    std::vector<StoredFile> chosen;
    ForEachFile(results, [&](const StoredFile& file) {
      cleaned.kept_files += 1;
      cleaned.kept_bytes += file.bytes;
      const bool old = file.added_to_s < limit;
      if (old && (!choice.wanted || choice.wanted(file.key))) chosen.push_back(file);
    });
    std::sort(chosen.begin(), chosen.end(), [](const StoredFile& a, const StoredFile& b) {
      return std::tie(a.added_to_s, a.key) < std::tie(b.added_to_s, b.key);
    });
    for (const StoredFile& file : chosen) {
      if (choice.at_most >= 0 && cleaned.kept_bytes <= choice.at_most) break;
      cleaned.files += 1;
      cleaned.bytes += file.bytes;
      cleaned.kept_files -= 1;
      cleaned.kept_bytes -= file.bytes;
      if (dry_run) continue;
      const std::string folder = file.key.substr(0, kResultFolderDigits);
      results.Below(folder, Folder::Missing::kFail).Remove(file.key);
    }
  });
  return cleaned;
}

std::set<std::string> SupersededResults(const Folder& common, const KnownDocuments& known) {
  std::set<std::string> in_use, superseded;
  known.ForEach([&](const DocumentRecord& record) { in_use.insert(record.input.key); });
  const auto take = [&](const Folder& folder) {
    LedgerVisitor visitor;
    visitor.document = [&](const DocumentRecord& record) {
      const std::string& key = record.input.key;
      if (!key.empty() && !in_use.contains(key)) superseded.insert(key);
    };
    ReadLedger(folder, visitor);
  };
  take(common);
  for (const Shard& shard : ShardsIn(common)) {
    take(common.Below(ShardPath(shard), Folder::Missing::kFail));
  }
  return superseded;
}

}  // namespace platen
