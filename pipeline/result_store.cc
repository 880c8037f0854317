#include "pipeline/result_store.h"

#include <sys/stat.h>

#include <algorithm>

#include "model/support/error.h"
#include "model/support/hash.h"

namespace platen {

std::unique_ptr<PageFile> ResultStore::Open(const std::string& key) const {
  return WithErrorKind(ErrorKind::kEnvironment, [&] {
    Folder folder = folder_.Below(key.substr(0, kResultFolderDigits), Folder::Missing::kCreate);
    return std::make_unique<PageFile>(std::move(folder), key, parts_);
  });
}

void ResultStore::PublishAll(const Folder& parts) const {
  WithErrorKind(ErrorKind::kEnvironment, [&] {
    for (const std::string& key : parts.Names()) {
      const auto info = parts.Look(key);
      if (!IsHex(key, kHashHexLength) || !info || !S_ISREG(info->st_mode)) continue;
      PublishPart(parts, key,
                  folder_.Below(key.substr(0, kResultFolderDigits), Folder::Missing::kCreate));
    }
  });
}

}  // namespace platen
