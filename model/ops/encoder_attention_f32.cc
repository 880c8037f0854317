#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/ops/attention_pages.h"
#include "model/ops/encoder_attention_kinds.h"
#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kTaskRows = EncoderAttentionMemory::kTaskRows;

PageShape ShapeOf(int head_dim) {
  const auto padded = static_cast<int>(CeilDiv(head_dim, kLanes)) * kLanes;
  return {.type = KvType::kF32,
          .tokens = EncoderAttentionMemory::kPageTokens,
          .key_width = head_dim,
          .value_width = head_dim,
          .key_rows = head_dim,
          .value_stride = padded};
}

std::byte* PageAt(Mat& memory, int64_t index, int64_t bytes) {
  return reinterpret_cast<std::byte*>(memory.data()) + index * bytes;
}

class EncoderAttentionF32 final : public EncoderAttention {
 public:
  EncoderAttentionF32(const KernelTable& kernels, int num_heads, int head_dim)
      : EncoderAttention(kernels, num_heads, head_dim), shape_(ShapeOf(head_dim)) {}

  void Run(Memory& memory) const override {
    ParallelFor(static_cast<int64_t>(memory.tasks.size()),
                [&](int64_t i) { Attend(memory.tasks[static_cast<size_t>(i)], memory); });
  }

 private:
  void Reserve(Memory& memory) const override {
    const int64_t pages = num_heads_ * memory.num_pages;
    memory.queries.Resize(num_heads_ * memory.num_patches, head_dim_);
    memory.keys.Resize(pages, shape_.key_bytes() / static_cast<int64_t>(sizeof(float)));
    memory.values.Resize(pages, shape_.value_bytes() / static_cast<int64_t>(sizeof(float)));
    memory.key_pages.clear();
    memory.value_pages.clear();
    for (int64_t p = 0; p < pages; ++p) {
      memory.key_pages.push_back(PageAt(memory.keys, p, shape_.key_bytes()));
      memory.value_pages.push_back(PageAt(memory.values, p, shape_.value_bytes()));
    }
  }

  float* QueriesOf(int64_t head, int64_t first, Memory& memory) const {
    return memory.queries.View().Row(head * memory.num_patches + first);
  }

  void TakeQueries(int64_t head, int64_t first, MatView rows, Memory& memory) const override {
    float* q = QueriesOf(head, first, memory);
    for (int64_t i = 0; i < rows.rows; ++i) std::copy_n(rows.Row(i), head_dim_, q + i * head_dim_);
  }
  void TakeKeys(const PageRows& keys, Memory& memory) const override {
    const TokenRows rows = {keys.rows.data, keys.rows.stride, static_cast<int>(keys.rows.rows)};
    WriteKeys(kernels_, shape_, keys.place, rows,
              PageAt(memory.keys, keys.page, shape_.key_bytes()));
  }
  void TakeValues(const PageRows& values, Memory& memory) const override {
    const TokenRows rows = {values.rows.data, values.rows.stride,
                            static_cast<int>(values.rows.rows)};
    WriteValues(kernels_, shape_, values.place, rows,
                PageAt(memory.values, values.page, shape_.value_bytes()));
  }

  void Attend(const Memory::Task& task, Memory& memory) const {
    const Memory::Image& image = memory.images[static_cast<size_t>(task.image)];
    const float* q[kTaskRows];
    float* out[kTaskRows];
    int32_t context[kTaskRows];
    for (int64_t i = 0; i < task.count; ++i) {
      const int64_t patch = image.rows.first + task.first + i;
      q[i] = QueriesOf(task.head, patch, memory);
      out[i] = memory.out.View().Row(patch) + task.head * head_dim_;
      context[i] = static_cast<int32_t>(image.rows.count);
    }
    const int64_t first_page = task.head * memory.num_pages + image.first_page;
    AttentionJob job;
    job.type = shape_.type;
    job.k_pages = memory.key_pages.data() + first_page;
    job.v_pages = memory.value_pages.data() + first_page;
    job.page_tokens = shape_.tokens;
    job.head_dim = head_dim_;
    job.v_stride = shape_.value_stride;
    job.rows = static_cast<int>(task.count);
    job.q = q;
    job.scale = 1.0F / std::sqrt(static_cast<float>(head_dim_));
    job.context = context;
    job.out = out;
    kernels_.attention(job);
  }

  const PageShape shape_;
};

}  // namespace

std::unique_ptr<EncoderAttention> MakeEncoderAttentionF32(const KernelTable& kernels, int num_heads,
                                                          int head_dim) {
  return std::make_unique<EncoderAttentionF32>(kernels, num_heads, head_dim);
}

}  // namespace platen
