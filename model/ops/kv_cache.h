// Paged key/value cache of the decoder and the draft layer.
//
// A block holds `block_tokens` tokens of every layer (the draft layer is the last one) and KV head:
// a K tile and a V tile in the layout the attention kernels read (kernels.h, AttentionJob), a page
// each; in a layer the K tiles of all heads, then their V tiles. bf16 values are rounded to nearest
// even when written, whatever else is in the batch; the kernels widen them exactly. A sequence owns
// a table of blocks; rows at or beyond its length may hold anything, including NaN.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "model/families/glm_ocr/config.h"
#include "model/kernels/kernels.h"
#include "model/ops/attention_pages.h"
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
  KvPool(const TextConfig& config, KvType type, int block_tokens, int64_t bytes);
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  // Appends blocks to `table` until it has `count`; all or nothing.
  bool Take(int64_t count, BlockTable& table);
  // Returns all blocks of the table and empties it. There is always room for them in the list.
  void Release(BlockTable& table) noexcept;

  const void* Keys(BlockId block, int layer, int head) const;
  const void* Values(BlockId block, int layer, int head) const;
  // Bytes from the keys, or the values, of a head to those of the next head of the same layer.
  int64_t key_head_bytes() const { return shape_.key_bytes(); }
  int64_t value_head_bytes() const { return shape_.value_bytes(); }

  // Write the keys, or the values, of tokens from `place` on.
  void WriteKeys(const KernelTable& kernels, BlockId block, int layer, int head, int place,
                 const TokenRows& rows) const;
  void WriteValues(const KernelTable& kernels, BlockId block, int layer, int head, int place,
                   const TokenRows& rows) const;

  // Bytes one token takes in all layers, the draft layer included.
  static int64_t TokenBytes(const TextConfig& config, KvType type);

  KvType type() const { return shape_.type; }
  int block_tokens() const { return shape_.tokens; }
  int head_dim() const { return shape_.head_dim; }
  int value_stride() const { return shape_.value_stride; }  // head_dim rounded up to 16
  int64_t BlocksFor(int64_t tokens) const { return (tokens + block_tokens() - 1) / block_tokens(); }
  int64_t total_blocks() const { return total_blocks_; }
  int64_t free_blocks() const;
  int64_t peak_blocks_used() const;

 private:
  std::byte* KeyTile(BlockId block, int layer, int head) const;
  std::byte* ValueTile(BlockId block, int layer, int head) const;

  PageShape shape_;  // of one head in a block
  int num_heads_;
  int64_t block_bytes_;
  int64_t total_blocks_;
  std::byte* memory_ = nullptr;

  mutable std::mutex mutex_;
  std::vector<BlockId> free_;  // last in, first out: warm pages first; guarded by mutex_
  int64_t peak_used_ = 0;      // guarded by mutex_
};

}  // namespace platen
