#include "pipeline/memory_plan.h"

#include <algorithm>

namespace platen {

MemoryPlan PlanMemory(int64_t memory_bytes) {
  constexpr int64_t kMiB = int64_t{1} << 20;
  constexpr int64_t kMostKvCache = int64_t{16} << 30;
  constexpr int64_t kMostSlots = 8;
  // Measured from decoding to crops: three bytes of colour, one of gray, and the layout's masks.
  constexpr int64_t kBytesPerPixel = 5;
  MemoryPlan plan;
  plan.kv_cache_bytes = std::clamp(memory_bytes / 4 / kMiB * kMiB, 16 * kMiB, kMostKvCache);
  plan.slots = static_cast<int>(
      std::clamp<int64_t>(memory_bytes / 8 / (kPixelsOfASlot * kBytesPerPixel), 1, kMostSlots));
  plan.pixels =
      std::clamp(memory_bytes / 4 / kBytesPerPixel, kPixelsOfASlot, plan.slots * kPixelsOfASlot);
  return plan;
}

BatchPlan PlanBatches(int hidden_size, int threads) {
  constexpr int kMostRows = 2400, kFewestRows = 64, kRowsOfAThread = 32;
  constexpr int kWidthOfSmallLayers = 256;  // some 0.8 MB a layer
  constexpr int kPatchesOfARow = 4;
  if (hidden_size > kWidthOfSmallLayers) return {kMostRows, kMostRows};
  const auto rows = static_cast<int>(
      std::clamp<int64_t>(int64_t{kRowsOfAThread} * threads, kFewestRows, kMostRows));
  return {std::min(kPatchesOfARow * rows, kMostRows), rows};
}

}  // namespace platen
