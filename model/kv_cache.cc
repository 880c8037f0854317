#include "model/kv_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>

#include "model/kernels/kernels.h"
#include "model/support/error.h"

namespace platen {
namespace {

int PaddedHeadDim(const TextConfig& config) {
  return (config.head_dim + kLanes - 1) / kLanes * kLanes;
}

}  // namespace

int64_t KvPool::TokenBytes(const TextConfig& config) {
  return static_cast<int64_t>(config.head_dim + PaddedHeadDim(config)) * config.num_kv_heads *
         (config.num_layers + config.num_mtp_layers) * static_cast<int64_t>(sizeof(float));
}

KvPool::KvPool(const TextConfig& config, int block_tokens, int64_t bytes)
    : block_tokens_(block_tokens),
      head_dim_(config.head_dim),
      value_stride_(PaddedHeadDim(config)),
      num_heads_(config.num_kv_heads),
      head_floats_(static_cast<int64_t>(block_tokens) * (head_dim_ + value_stride_)),
      block_floats_(block_tokens * TokenBytes(config) / static_cast<int64_t>(sizeof(float))) {
  assert(block_tokens % kLanes == 0 && kKeySplit % block_tokens == 0);
  const auto block_bytes = block_floats_ * static_cast<int64_t>(sizeof(float));
  total_blocks_ = std::clamp<int64_t>(bytes / block_bytes, 1, std::numeric_limits<BlockId>::max());
  void* mapped = mmap(nullptr, static_cast<size_t>(total_blocks_ * block_bytes),
                      PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    throw Error(ErrorKind::kEnvironment, {.file = {}, .field = "kv_cache"},
                "cannot reserve " + std::to_string(total_blocks_ * block_bytes) + " bytes");
  }
  memory_ = static_cast<float*>(mapped);
  for (int64_t b = total_blocks_ - 1; b >= 0; --b) free_.push_back(static_cast<BlockId>(b));
}

KvPool::~KvPool() {
  munmap(memory_, static_cast<size_t>(total_blocks_ * block_floats_) * sizeof(float));
}

bool KvPool::Take(int64_t count, BlockTable& table) {
  const int64_t missing = count - static_cast<int64_t>(table.size());
  if (missing <= 0) return true;
  const std::lock_guard lock(mutex_);
  if (static_cast<int64_t>(free_.size()) < missing) return false;
  table.insert(table.end(), free_.rbegin(), free_.rbegin() + missing);
  free_.resize(free_.size() - static_cast<size_t>(missing));
  peak_used_ = std::max(peak_used_, total_blocks_ - static_cast<int64_t>(free_.size()));
  return true;
}

void KvPool::Release(BlockTable& table) {
#ifndef NDEBUG
  // Reading a row beyond a sequence's length must show.
  for (const BlockId block : table) {
    std::fill_n(memory_ + block * block_floats_, block_floats_,
                std::numeric_limits<float>::quiet_NaN());
  }
#endif
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), table.rbegin(), table.rend());
  assert(static_cast<int64_t>(free_.size()) <= total_blocks_);
  table.clear();
}

float* KvPool::Keys(BlockId block, int layer, int head) const {
  assert(block >= 0 && block < total_blocks_ && head < num_heads_);
  return memory_ + block * block_floats_ +
         (static_cast<int64_t>(layer) * num_heads_ + head) * head_floats_;
}

float* KvPool::Values(BlockId block, int layer, int head) const {
  return Keys(block, layer, head) + static_cast<int64_t>(head_dim_) * block_tokens_;
}

void KvPool::Write(BlockId block, int layer, int head, int place, const float* key,
                   const float* value) const {
  float* keys = Keys(block, layer, head) + place;
  for (int d = 0; d < head_dim_; ++d) keys[static_cast<int64_t>(d) * block_tokens_] = key[d];
  float* values = Values(block, layer, head) + static_cast<int64_t>(place) * value_stride_;
  std::copy_n(value, head_dim_, values);
  std::fill(values + head_dim_, values + value_stride_, 0.0F);
}

int64_t KvPool::free_blocks() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int64_t>(free_.size());
}

int64_t KvPool::peak_blocks_used() const {
  const std::lock_guard lock(mutex_);
  return peak_used_;
}

}  // namespace platen
