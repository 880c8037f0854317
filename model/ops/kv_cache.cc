#include "model/ops/kv_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "model/support/ceil_div.h"
#include "model/support/error.h"
#include "model/support/grouped.h"

namespace platen {
namespace {

// The pages of one KV head.
PageShape ShapeOf(const TextConfig& config, KvType type, int block_tokens) {
  return {.type = type,
          .tokens = block_tokens,
          .head_dim = config.head_dim,
          .key_rows = config.head_dim,
          .value_stride = (config.head_dim + kLanes - 1) / kLanes * kLanes};
}

}  // namespace

int64_t KvPool::TokenBytes(const TextConfig& config, KvType type) {
  const PageShape shape = ShapeOf(config, type, 1);
  return (shape.key_bytes() + shape.value_bytes()) * config.num_kv_heads *
         (config.num_layers + config.num_mtp_layers);
}

KvPool::KvPool(const TextConfig& config, KvType type, int block_tokens, int64_t bytes)
    : shape_(ShapeOf(config, type, block_tokens)),
      num_heads_(config.num_kv_heads),
      block_bytes_(block_tokens * TokenBytes(config, type)) {
  assert(block_tokens % kLanes == 0 && kKeySplit % block_tokens == 0);
  total_blocks_ = std::clamp<int64_t>(bytes / block_bytes_, 1, std::numeric_limits<BlockId>::max());
  const auto size = static_cast<size_t>(total_blocks_ * block_bytes_);
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    throw Error(ErrorKind::kEnvironment, {.file = {}, .field = "the attention cache"},
                "cannot reserve " + Grouped(CeilDiv(static_cast<int64_t>(size), 1 << 20)) +
                    " MiB of address space (" + why + "); give a smaller --kv-cache-mib");
  }
  madvise(mapped, size, MADV_HUGEPAGE);  // a wish; without it decoding reads a tenth slower
  memory_ = static_cast<std::byte*>(mapped);
  free_.reserve(static_cast<size_t>(total_blocks_));
  for (int64_t b = total_blocks_ - 1; b >= 0; --b) free_.push_back(static_cast<BlockId>(b));
}

KvPool::~KvPool() { munmap(memory_, static_cast<size_t>(total_blocks_ * block_bytes_)); }

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

void KvPool::Release(BlockTable& table) noexcept {
#ifndef NDEBUG
  // Reading a row beyond a sequence's length must show.
  for (const BlockId block : table) {
    std::memset(memory_ + block * block_bytes_, 0xFF, static_cast<size_t>(block_bytes_));  // NaN
  }
#endif
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), table.rbegin(), table.rend());
  assert(static_cast<int64_t>(free_.size()) <= total_blocks_);
  table.clear();
}

std::byte* KvPool::KeyTile(BlockId block, int layer, int head) const {
  assert(block >= 0 && block < total_blocks_ && head < num_heads_);
  const int64_t layer_bytes = num_heads_ * (shape_.key_bytes() + shape_.value_bytes());
  return memory_ + block * block_bytes_ + layer * layer_bytes + head * shape_.key_bytes();
}

std::byte* KvPool::ValueTile(BlockId block, int layer, int head) const {
  return KeyTile(block, layer, 0) + num_heads_ * shape_.key_bytes() + head * shape_.value_bytes();
}

const void* KvPool::Keys(BlockId block, int layer, int head) const {
  return KeyTile(block, layer, head);
}

const void* KvPool::Values(BlockId block, int layer, int head) const {
  return ValueTile(block, layer, head);
}

void KvPool::WriteKeys(const KernelTable& kernels, BlockId block, int layer, int head, int place,
                       const TokenRows& rows) const {
  platen::WriteKeys(kernels, shape_, place, rows, KeyTile(block, layer, head));
}

void KvPool::WriteValues(const KernelTable& kernels, BlockId block, int layer, int head, int place,
                         const TokenRows& rows) const {
  platen::WriteValues(kernels, shape_, place, rows, ValueTile(block, layer, head));
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
