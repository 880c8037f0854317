#include "apps/platen/commands/ocr/resources.h"

#include "apps/platen/cli/model_options.h"
#include "pipeline/hardware.h"
#include "pipeline/memory_plan.h"

namespace platen {

Resources ResourcesFrom(const Settings& settings) {
  Resources resources;
  resources.threads = ThreadsFrom(settings);
  resources.memory_bytes = UsableMemoryBytes();
  const MemoryPlan plan = PlanMemory(resources.memory_bytes);
  resources.slots =
      settings.IsDefault("slots") ? plan.slots : static_cast<int>(settings.Integer("slots"));
  resources.pixels = settings.IsDefault("slots") ? plan.pixels : resources.slots * kPixelsOfASlot;
  const int64_t kv_cache_mib = settings.Integer("kv-cache-mib");
  resources.kv_cache_bytes = kv_cache_mib == 0 ? plan.kv_cache_bytes : kv_cache_mib << 20;
  return resources;
}

}  // namespace platen
