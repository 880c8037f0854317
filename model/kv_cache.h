// Paged key/value cache of the decoder and the draft layer.
//
// A block holds `block_tokens` tokens of every layer (the draft layer is the last one) and KV head:
// a K tile [head_dim][block_tokens] and a V tile [block_tokens][padded head_dim], the layout the
// attention kernels read. A sequence owns a table of blocks; rows at or beyond its length may hold
// anything, including NaN.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "model/config.h"

namespace platen {

using BlockId = int32_t;

// Blocks of one sequence in token order. Released by KvPool::Release, never by itself.
using BlockTable = std::vector<BlockId>;

// Owns the memory of all blocks. Take, Release and the counters may be called from any thread; the
// tiles of a block belong to the sequence that holds it.
class KvPool {
 public:
  // Reserves address space for as many blocks as fit into `bytes` (at least one); pages are touched
  // when first written. block_tokens: a multiple of 16 that divides kKeySplit. Throws
  // Error(kEnvironment) if the address space cannot be had.
  KvPool(const TextConfig& config, int block_tokens, int64_t bytes);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  // Appends blocks to `table` until it has `count`; all or nothing.
  bool Take(int64_t count, BlockTable& table);
  // Returns all blocks of the table and empties it.
  void Release(BlockTable& table);

  float* Keys(BlockId block, int layer, int head) const;    // [head_dim][block_tokens]
  float* Values(BlockId block, int layer, int head) const;  // [block_tokens][value_stride]

  // Writes one token's key and value.
  void Write(BlockId block, int layer, int head, int place, const float* key,
             const float* value) const;

  // Bytes one token takes in all layers, the draft layer included.
  static int64_t TokenBytes(const TextConfig& config);

  int block_tokens() const { return block_tokens_; }
  int head_dim() const { return head_dim_; }
  int value_stride() const { return value_stride_; }  // head_dim rounded up to 16
  int64_t BlocksFor(int64_t tokens) const { return (tokens + block_tokens_ - 1) / block_tokens_; }
  int64_t total_blocks() const { return total_blocks_; }
  int64_t free_blocks() const;
  int64_t peak_blocks_used() const;

 private:
  int block_tokens_;
  int head_dim_;
  int value_stride_;
  int num_heads_;
  int64_t head_floats_;  // K tile + V tile of one head
  int64_t block_floats_;
  int64_t total_blocks_;
  float* memory_ = nullptr;

  mutable std::mutex mutex_;
  std::vector<BlockId> free_;  // last in, first out: warm pages first; guarded by mutex_
  int64_t peak_used_ = 0;      // guarded by mutex_
};

}  // namespace platen
