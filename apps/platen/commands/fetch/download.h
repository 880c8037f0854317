// One file of a repository, from the hub into the cache's blobs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "apps/platen/commands/fetch/cache_writer.h"
#include "apps/platen/commands/fetch/hub_client.h"

namespace platen {

struct DownloadSource {
  HubClient& hub;
  ModelName model;
  std::string commit;
  std::function<void(int64_t bytes)> on_bytes;  // that are there of the file now; may go back
};

// Goes on from what an earlier attempt has left, compares the checksum, and gives the blob its name
// once it is on disk. A file whose bytes are wrong is removed. Does nothing if it is there. Throws
// Error(kEnvironment), FetchInterrupted; what has come so far then stays as DIGEST.incomplete.
void Download(const DownloadSource& source, const CacheWriter& cache, const HubFile& file);

}  // namespace platen
