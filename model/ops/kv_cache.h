// Paged key/value cache of the decoder and the draft layer.
//
// A block holds `block_tokens` tokens of every plane of the cache shape and KV head: a K tile and a
// V tile in the layout the attention kernels read (kernels.h, AttentionJob), a page each; in a
// plane the K tiles of all heads, then their V tiles. bf16 values are rounded to nearest even when
// written, whatever else is in the batch; the kernels widen them exactly. A sequence owns a table
// of blocks; rows at or beyond its length may hold anything, including NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/attention_pages.h"
#include "model/ops/cache_shape.h"
#include "model/ops/linear.h"

namespace platen {

using BlockId = int32_t;

// bf16 takes half the memory and half of decoding's traffic; f32 precision is the reference and
// rounds nothing.
inline KvType KvTypeOf(Precision precision) {
  return precision == Precision::kInt8 ? KvType::kBf16 : KvType::kF32;
}

// Blocks of one sequence in token order. Released by KvPool::Release, never by itself.
using BlockTable = std::vector<BlockId>;

// Owns the memory of all blocks. Take, Release and the counters may be called from any thread; the
// tiles of a block belong to the sequence that holds it.
class KvPool {
 public:
  // Reserves address space for as many blocks as fit into `bytes` (at least one); pages are touched
  // when first written. block_tokens: a multiple of 16 that divides kKeySplit. Throws
  // Error(kEnvironment) if the address space cannot be had.
  KvPool(const CacheShape& shape, KvType type, int block_tokens, int64_t bytes);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  // Appends blocks to `table` until it has `count`; all or nothing.
  bool Take(int64_t count, BlockTable& table);
  // The same with the blocks of `giver` on top of the free ones: it gives back all of its blocks,
  // and nobody else can take them in between. False, and nothing has changed, if that is not
  // enough.
  bool TakeFrom(BlockTable& giver, int64_t count, BlockTable& table);
  // Returns all blocks of the table and empties it. There is always room for them in the list.
  void Release(BlockTable& table) noexcept;

  const void* Keys(BlockId block, int plane, int head) const;
  const void* Values(BlockId block, int plane, int head) const;
  // The pages of one head of a plane in a block: key_bytes() and value_bytes() lead from the keys,
  // or the values, of a head to those of the next.
  const PageShape& pages(int plane) const { return planes_[static_cast<size_t>(plane)].pages; }

  // Write the keys, or the values, of tokens from `first` of the block on.
  void WriteKeys(const KernelTable& kernels, BlockId block, int plane, int head, int first,
                 const TokenRows& rows);
  void WriteValues(const KernelTable& kernels, BlockId block, int plane, int head, int first,
                   const TokenRows& rows);

  // Copies all planes of a block.
  void Copy(BlockId from, BlockId to);

  // Bytes one token takes in all planes, padding included.
  static int64_t TokenBytes(const CacheShape& shape, KvType type);

  KvType type() const { return type_; }
  int block_tokens() const { return block_tokens_; }
  int64_t BlocksFor(int64_t tokens) const { return (tokens + block_tokens() - 1) / block_tokens(); }
  int64_t total_blocks() const { return total_blocks_; }
  int64_t free_blocks() const;
  int64_t peak_blocks_used() const;

 private:
  struct Plane {
    PageShape pages;  // of one head in a block
    int num_heads = 0;
    int64_t offset = 0;  // of its first K tile in a block
  };

  std::byte* KeyTile(BlockId block, int plane, int head) const;
  std::byte* ValueTile(BlockId block, int plane, int head) const;
  void Poison(const BlockTable& table) noexcept;
  bool TakeFree(int64_t missing, BlockTable& table);
  void PutBack(BlockTable& table) noexcept;

  KvType type_;
  int block_tokens_;
  std::vector<Plane> planes_;
  int64_t block_bytes_;
  int64_t total_blocks_;
  std::byte* memory_ = nullptr;

  mutable std::mutex mutex_;
  std::vector<BlockId> free_;  // last in, first out: warm pages first; guarded by mutex_
  int64_t peak_used_ = 0;      // guarded by mutex_
};

}  // namespace platen
