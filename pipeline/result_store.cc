#include "pipeline/result_store.h"

#include <sys/stat.h>

#include <algorithm>

#include "model/support/error.h"
#include "model/support/hash.h"

namespace platen {
namespace {

constexpr size_t kFolderDigits = 2;

}  // namespace

std::unique_ptr<PageFile> ResultStore::Open(const std::string& key) const {
  return WithErrorKind(ErrorKind::kEnvironment, [&] {
    Folder folder = folder_.Below(key.substr(0, kFolderDigits), Folder::Missing::kCreate);
    return std::make_unique<PageFile>(std::move(folder), key, parts_);
  });
}

void ResultStore::PublishAll(const Folder& parts) const {
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    for (const std::string& key : parts.Names()) {
      const auto info = parts.Look(key);
      if (!IsHex(key, kHashHexLength) || !info || !S_ISREG(info->st_mode)) continue;
      PublishPart(parts, key,
                  folder_.Below(key.substr(0, kFolderDigits), Folder::Missing::kCreate));
    }
  });
}

CleanedResults ResultStore::Clean(std::chrono::system_clock::time_point before,
                                  bool dry_run) const {
  CleanedResults cleaned;
  const auto limit = std::chrono::system_clock::to_time_t(before);
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    for (const std::string& name : folder_.Names()) {
      if (!IsHex(name, kFolderDigits)) continue;
      const Folder folder = folder_.Below(name, Folder::Missing::kFail);
      for (const std::string& key : folder.Names()) {
        const auto info = folder.Look(key);
        if (!IsHex(key, kHashHexLength) || !info || !S_ISREG(info->st_mode)) continue;
        const bool old = info->st_mtim.tv_sec < limit;
        (old ? cleaned.files : cleaned.kept_files) += 1;
        (old ? cleaned.bytes : cleaned.kept_bytes) += info->st_size;
        if (old && !dry_run) folder.Remove(key);
      }
    }
  });
  return cleaned;
}

}  // namespace platen
