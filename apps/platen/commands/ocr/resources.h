// What a run may take of the machine: as the settings say, else what machine and container offer.
#pragma once

#include <cstdint>

#include "apps/platen/cli/settings.h"

namespace platen {

struct Resources {
  int threads = 1;
  int slots = 1;
  int64_t pixels = 0;  // of decoded pages at once
  int64_t kv_cache_bytes = 0;
  int64_t memory_bytes = 0;  // that this process may use
};

Resources ResourcesFrom(const Settings& settings);

// Of the attention cache alone: --kv-cache-mib, or its share of the memory.
int64_t KvCacheBytesFrom(const Settings& settings);

}  // namespace platen
