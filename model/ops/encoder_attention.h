// Attention of an image encoder: softmax(q k^T / sqrt(d)) v in each of H heads of width d, among
// the patches of one image. A batch holds P patches, one image after another; no image sees
// another.
//
// The rows of q, k and v come head by head, in any order and from several threads, as the linear
// layer before gives them; Run needs all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/kernels/kernels.h"
#include "model/ops/tensor.h"

namespace platen {

// Arithmetic of an image encoder's attention. Each gives the same bits on every CPU, but not those
// of the other (docs/NUMERICS.md).
enum class VisionAttention { kF32, kInt8 };
const char* VisionAttentionName(VisionAttention attention);  // "f32", "int8"

// Of one image of a batch.
struct ImageRows {
  int64_t first = 0;  // patch
  int64_t count = 0;
};

// Of one batch at a time; keeps its memory for the next.
struct EncoderAttentionMemory {
  static constexpr int kPageTokens = 64;  // keys, or values, of a page
  static constexpr int kTaskRows = 192;   // at most

  struct Image {
    ImageRows rows;
    int64_t first_page = 0;   // of the first head; its pages lie one after the other
    int64_t first_block = 0;  // of kKeySplit tokens, likewise
  };
  // Query rows [first, first + count) of an image.
  struct Task {
    int64_t image = 0, head = 0, first = 0, count = 0;
  };
  std::vector<Image> images;
  std::vector<Task> tasks;
  int64_t num_patches = 0, num_pages = 0, num_blocks = 0;  // of a head

  Mat queries;                           // [H][P][d], as floats or bytes
  Mat keys, values;                      // bytes: [H][pages]
  std::vector<const void*> key_pages;    // f32: [H * pages]
  std::vector<const void*> value_pages;  // f32: [H * pages]
  Mat query_scales, key_scales;          // int8: [H][P], [H][pages][64]
  std::vector<int32_t> corrections;      // int8: [H][P]
  Mat value_scales, value_means;         // int8: [H][blocks][stride]
  Mat out;                               // [P][H d]
};

// Immutable. Thread-safe with different memories.
class EncoderAttention {
 public:
  EncoderAttention(const KernelTable& kernels, int num_heads, int head_dim)
      : kernels_(kernels), num_heads_(num_heads), head_dim_(head_dim) {}
  virtual ~EncoderAttention() = default;
  EncoderAttention(const EncoderAttention&) = delete;
  EncoderAttention& operator=(const EncoderAttention&) = delete;

  // Room for a batch; images follow each other without gaps.
  void Begin(std::span<const ImageRows> images, EncoderAttentionMemory& memory) const;

  // Rows [count][d] of one head, of patches from `first` on; they may be of several images. The
  // caller gives up what `rows` holds. Thread-safe for different rows; neighbours share cache
  // lines, so give many rows at once.
  void PutQueries(int64_t head, int64_t first, MatView rows, EncoderAttentionMemory& memory) const;
  void PutKeys(int64_t head, int64_t first, MatView rows, EncoderAttentionMemory& memory) const;
  void PutValues(int64_t head, int64_t first, MatView rows, EncoderAttentionMemory& memory) const;

  // memory.out = the result, rows [P][H d]. Parallel.
  virtual void Run(EncoderAttentionMemory& memory) const = 0;

 protected:
  using Memory = EncoderAttentionMemory;

  // Rows of one head within one page: patch `first` of the batch is token `place` of page `page`,
  // counted over all heads.
  struct PageRows {
    int64_t head = 0;
    int64_t first = 0;
    int64_t page = 0;
    int place = 0;
    MatView rows;
  };
  virtual void Reserve(Memory& memory) const = 0;
  virtual void TakeQueries(int64_t head, int64_t first, MatView rows, Memory& memory) const = 0;
  virtual void TakeKeys(const PageRows& keys, Memory& memory) const = 0;
  virtual void TakeValues(const PageRows& values, Memory& memory) const = 0;

  const KernelTable& kernels_;
  const int num_heads_;
  const int head_dim_;

 private:
  template <class Take>
  static void ForPages(int64_t head, int64_t first, MatView rows, Memory& memory, const Take& take);
};

// `kernels` outlives it. head_dim <= kMaxHeadDim.
std::unique_ptr<EncoderAttention> MakeEncoderAttention(const KernelTable& kernels,
                                                       VisionAttention arithmetic, int num_heads,
                                                       int head_dim);

}  // namespace platen
