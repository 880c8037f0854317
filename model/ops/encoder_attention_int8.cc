// q and k are quantised as they come, row by row. Values need the mean of their block of 256
// tokens: their rows wait where the result of attention will stand, and Run packs them before it
// computes anything.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/ops/encoder_attention_kinds.h"
#include "model/ops/parallel.h"
#include "model/ops/transpose.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kTaskRows = EncoderAttentionMemory::kTaskRows;
constexpr int64_t kPageTokens = EncoderAttentionMemory::kPageTokens;
static_assert(kPageTokens == kInt8PageTokens);

template <class T>
T* BytesAt(Mat& memory, int64_t bytes) {
  return reinterpret_cast<T*>(memory.data()) + bytes;
}
void ResizeBytes(Mat& memory, int64_t bytes) {
  memory.Resize(1, CeilDiv(bytes, static_cast<int64_t>(sizeof(float))));
}

class EncoderAttentionInt8 final : public EncoderAttention {
 public:
  EncoderAttentionInt8(const KernelTable& kernels, int num_heads, int head_dim)
      : EncoderAttention(kernels, num_heads, head_dim) {
    sizes_.head_dim = head_dim;
    sizes_.factor = Int8Factor(1.0F / std::sqrt(static_cast<float>(head_dim)), head_dim);
  }

  void Run(Memory& memory) const override {
    ParallelFor(num_heads_ * memory.num_blocks, [&](int64_t i) {
      PackValues(i / memory.num_blocks, i % memory.num_blocks, memory);
    });
    ParallelFor(static_cast<int64_t>(memory.tasks.size()),
                [&](int64_t i) { Attend(memory.tasks[static_cast<size_t>(i)], memory); });
  }

 private:
  int64_t depth() const { return sizes_.depth(); }
  int64_t stride() const { return sizes_.stride(); }

  void Reserve(Memory& memory) const override {
    const int64_t rows = num_heads_ * memory.num_patches;
    const int64_t tokens = num_heads_ * memory.num_pages * kPageTokens;
    ResizeBytes(memory.queries, rows * depth());
    ResizeBytes(memory.keys, tokens * depth());
    ResizeBytes(memory.values, tokens * stride());
    memory.query_scales.Resize(1, rows);
    memory.corrections.resize(static_cast<size_t>(rows));
    memory.key_scales.Resize(1, tokens);
    memory.value_scales.Resize(num_heads_ * memory.num_blocks, stride());
    memory.value_means.Resize(num_heads_ * memory.num_blocks, stride());
  }

  void Quantize(float* row, int8_t* out, float* scale, int32_t* correction) const {
    kernels_.hadamard(row, head_dim_);
    const auto padded = static_cast<int>(depth());
    kernels_.quantize_row(row, head_dim_, padded, padded, out, scale, correction);
  }

  void TakeQueries(int64_t head, int64_t first, MatView rows, Memory& memory) const override {
    const int64_t at = head * memory.num_patches + first;
    auto* q = BytesAt<int8_t>(memory.queries, at * depth());
    for (int64_t i = 0; i < rows.rows; ++i) {
      Quantize(rows.Row(i), q + i * depth(), memory.query_scales.data() + at + i,
               memory.corrections.data() + at + i);
    }
  }

  void TakeKeys(const PageRows& keys, Memory& memory) const override {
    alignas(64) int8_t together[kPageTokens * kMaxHeadDim];
    int32_t unused = 0;
    float* scales = memory.key_scales.data() + keys.page * kPageTokens + keys.place;
    const int64_t count = keys.rows.rows;
    for (int64_t i = 0; i < count; ++i) {
      Quantize(keys.rows.Row(i), together + i * depth(), scales + i, &unused);
    }
    for (int64_t i = 0; i < count * depth(); ++i)
      together[i] = static_cast<int8_t>(together[i] ^ -128);
    constexpr int64_t kFour = 4;
    Transpose(
        reinterpret_cast<const std::byte*>(together), depth(), static_cast<int>(count),
        static_cast<int>(depth() / kFour),
        BytesAt<std::byte>(memory.keys, keys.page * kPageTokens * depth() + keys.place * kFour),
        kPageTokens * kFour);
  }

  void TakeValues(const PageRows& values, Memory& memory) const override {
    const MatView out = memory.out.View().Columns(values.head * head_dim_, head_dim_);
    for (int64_t i = 0; i < values.rows.rows; ++i) {
      std::copy_n(values.rows.Row(i), head_dim_, out.Row(values.first + i));
    }
  }

  // Block `index` of a head, of all images together.
  void PackValues(int64_t head, int64_t index, Memory& memory) const {
    const auto first_block = [](const Memory::Image& image) { return image.first_block; };
    const Memory::Image& image =
        *(std::ranges::upper_bound(memory.images, index, {}, first_block) - 1);
    const int64_t block = index - image.first_block;
    const int64_t page = head * memory.num_pages + image.first_page + block * kInt8BlockPages;
    const MatView rows = memory.out.View().Columns(head * head_dim_, head_dim_);
    Int8ValuesJob job;
    job.head_dim = head_dim_;
    job.tokens =
        static_cast<int>(std::min(int64_t{kKeySplit}, image.rows.count - block * kKeySplit));
    job.x = rows.Row(image.rows.first + block * kKeySplit);
    job.x_stride = rows.stride;
    job.v = BytesAt<int8_t>(memory.values, page * kPageTokens * stride());
    job.scales = memory.value_scales.View().Row(head * memory.num_blocks + index);
    job.means = memory.value_means.View().Row(head * memory.num_blocks + index);
    kernels_.quantize_values(job);
  }

  void Attend(const Memory::Task& task, Memory& memory) const {
    const Memory::Image& image = memory.images[static_cast<size_t>(task.image)];
    const int64_t patch = image.rows.first + task.first;
    float* out[kTaskRows];
    for (int64_t i = 0; i < task.count; ++i) {
      out[i] = memory.out.View().Row(patch + i) + task.head * head_dim_;
    }
    const int64_t row = task.head * memory.num_patches + patch;
    const int64_t page = task.head * memory.num_pages + image.first_page;
    const int64_t block = task.head * memory.num_blocks + image.first_block;
    AttentionInt8Job job = sizes_;
    job.rows = static_cast<int>(task.count);
    job.q = BytesAt<int8_t>(memory.queries, row * depth());
    job.q_scales = memory.query_scales.data() + row;
    job.q_corrections = memory.corrections.data() + row;
    job.keys = static_cast<int>(image.rows.count);
    job.k = BytesAt<uint8_t>(memory.keys, page * kPageTokens * depth());
    job.k_scales = memory.key_scales.data() + page * kPageTokens;
    job.v = BytesAt<int8_t>(memory.values, page * kPageTokens * stride());
    job.v_scales = memory.value_scales.View().Row(block);
    job.v_means = memory.value_means.View().Row(block);
    job.out = out;
    kernels_.attention_int8(job);
  }

  AttentionInt8Job sizes_;  // head_dim and factor
};

}  // namespace

std::unique_ptr<EncoderAttention> MakeEncoderAttentionInt8(const KernelTable& kernels,
                                                           int num_heads, int head_dim) {
  return std::make_unique<EncoderAttentionInt8>(kernels, num_heads, head_dim);
}

}  // namespace platen
