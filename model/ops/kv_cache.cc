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

// The pages of one head of a plane.
PageShape PagesOf(const CachePlane& plane, KvType type, int block_tokens) {
  return {.type = type,
          .tokens = block_tokens,
          .key_width = plane.key_width,
          .value_width = plane.value_width,
          .key_rows = plane.key_width,
          .value_stride = static_cast<int>(CeilDiv(plane.value_width, kLanes)) * kLanes};
}

int64_t HeadBytes(const PageShape& pages) { return pages.key_bytes() + pages.value_bytes(); }

}  // namespace

int64_t KvPool::TokenBytes(const CacheShape& shape, KvType type) {
  int64_t bytes = 0;
  for (const CachePlane& plane : shape.planes) {
    bytes += HeadBytes(PagesOf(plane, type, 1)) * plane.heads;
  }
  return bytes;
}

KvPool::KvPool(const CacheShape& shape, KvType type, int block_tokens, int64_t bytes)
    : type_(type),
      block_tokens_(block_tokens),
      block_bytes_(block_tokens * TokenBytes(shape, type)) {
  int64_t offset = 0;
  for (const CachePlane& plane : shape.planes) {
    planes_.push_back({PagesOf(plane, type, block_tokens), plane.heads, offset});
    offset += HeadBytes(planes_.back().pages) * plane.heads;
  }
  assert(offset == block_bytes_);
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

bool KvPool::TakeFree(int64_t missing, BlockTable& table) {
  if (static_cast<int64_t>(free_.size()) < missing) return false;
  table.insert(table.end(), free_.rbegin(), free_.rbegin() + missing);
  free_.resize(free_.size() - static_cast<size_t>(missing));
  peak_used_ = std::max(peak_used_, total_blocks_ - static_cast<int64_t>(free_.size()));
  return true;
}

void KvPool::PutBack(BlockTable& table) noexcept {
  free_.insert(free_.end(), table.rbegin(), table.rend());
  assert(static_cast<int64_t>(free_.size()) <= total_blocks_);
  table.clear();
}

// Reading a row beyond a sequence's length must show.
void KvPool::Poison([[maybe_unused]] const BlockTable& table) noexcept {
#ifndef NDEBUG
  for (const BlockId block : table) {
    std::memset(memory_ + block * block_bytes_, 0xFF, static_cast<size_t>(block_bytes_));  // NaN
  }
#endif
}

bool KvPool::Take(int64_t count, BlockTable& table) {
  const int64_t missing = count - static_cast<int64_t>(table.size());
  if (missing <= 0) return true;
  const std::lock_guard lock(mutex_);
  return TakeFree(missing, table);
}

bool KvPool::TakeFrom(BlockTable& giver, int64_t count, BlockTable& table) {
  assert(&giver != &table);
  const int64_t missing = count - static_cast<int64_t>(table.size());
  table.reserve(static_cast<size_t>(std::max<int64_t>(count, 0)));  // before anything changes hands
  const std::lock_guard lock(mutex_);
  if (static_cast<int64_t>(free_.size() + giver.size()) < missing) return false;
  Poison(giver);
  PutBack(giver);
  return TakeFree(std::max<int64_t>(missing, 0), table);
}

void KvPool::Release(BlockTable& table) noexcept {
  Poison(table);
  const std::lock_guard lock(mutex_);
  PutBack(table);
}

std::byte* KvPool::KeyTile(BlockId block, int plane, int head) const {
  const Plane& p = planes_[static_cast<size_t>(plane)];
  assert(block >= 0 && block < total_blocks_ && head < p.num_heads);
  return memory_ + block * block_bytes_ + p.offset + head * p.pages.key_bytes();
}

std::byte* KvPool::ValueTile(BlockId block, int plane, int head) const {
  const Plane& p = planes_[static_cast<size_t>(plane)];
  return KeyTile(block, plane, 0) + p.num_heads * p.pages.key_bytes() +
         head * p.pages.value_bytes();
}

void KvPool::Copy(BlockId from, BlockId to) {
  std::memcpy(memory_ + to * block_bytes_, memory_ + from * block_bytes_,
              static_cast<size_t>(block_bytes_));
}

const void* KvPool::Keys(BlockId block, int plane, int head) const {
  return KeyTile(block, plane, head);
}

const void* KvPool::Values(BlockId block, int plane, int head) const {
  return ValueTile(block, plane, head);
}

void KvPool::WriteKeys(const KernelTable& kernels, BlockId block, int plane, int head, int first,
                       const TokenRows& rows) {
  platen::WriteKeys(kernels, pages(plane), first, rows, KeyTile(block, plane, head));
}

void KvPool::WriteValues(const KernelTable& kernels, BlockId block, int plane, int head, int first,
                         const TokenRows& rows) {
  platen::WriteValues(kernels, pages(plane), first, rows, ValueTile(block, plane, head));
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
