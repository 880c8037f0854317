#include "apps/platen/commands/ocr/resources.h"

#include <algorithm>

#include "apps/platen/cli/model_options.h"
#include "apps/platen/commands/ocr/limit_options.h"
#include "pipeline/hardware.h"
#include "pipeline/memory_plan.h"

namespace platen {

int64_t KvCacheBytesFrom(const Settings& settings) {
  const int64_t mib = settings.Integer("kv-cache-mib");
  return mib == 0 ? PlanMemory(UsableMemoryBytes()).kv_cache_bytes : mib << 20;
}

Resources ResourcesFrom(const Settings& settings) {
  Resources resources;
  resources.threads = ThreadsFrom(settings);
  resources.memory_bytes = UsableMemoryBytes();
  const int64_t limit = MemoryLimitFrom(settings);
  if (limit > 0) resources.memory_bytes = std::min(resources.memory_bytes, limit);
  const MemoryPlan plan = PlanMemory(resources.memory_bytes);
  resources.slots =
      settings.IsDefault("slots") ? plan.slots : static_cast<int>(settings.Integer("slots"));
  resources.pixels = settings.IsDefault("slots") ? plan.pixels : resources.slots * kPixelsOfASlot;
  const int64_t mib = settings.Integer("kv-cache-mib");
  resources.kv_cache_bytes = mib == 0 ? plan.kv_cache_bytes : mib << 20;
  return resources;
}

}  // namespace platen
