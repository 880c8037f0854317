// How much memory a run takes where the user does not say: within what the machine and the
// container have.
#pragma once

#include <cstdint>

namespace platen {

struct MemoryPlan {
  int64_t kv_cache_bytes = 0;
  int slots = 0;
  int64_t pixels = 0;  // of decoded pages at once
};

// Pixels that stand for a slot: more than an A4 page at 400 dpi has.
inline constexpr int64_t kPixelsOfASlot = 25'000'000;

// For `memory_bytes` in all: a quarter for the attention cache, at most 16 GiB, of which only what
// is used at some time is ever touched; at most eight pages, in an eighth; decoded pages in a
// quarter. The rest is the model's and its batches'. Not less than
// what one page needs, however small the memory.
MemoryPlan PlanMemory(int64_t memory_bytes);

struct BatchPlan {
  int patches = 0;  // of a vision batch
  int rows = 0;     // of a prefill batch
};

// For a model of that width. A wider batch reads the weights less often, and
// takes scratch for every row as long as the run lasts. Layers that stay in a core's cache gain
// nothing from width, beyond what keeps all threads busy.
BatchPlan PlanBatches(int hidden_size, int threads);

}  // namespace platen
