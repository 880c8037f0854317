#include "model/ops/encoder_attention.h"

#include <algorithm>

#include "model/ops/encoder_attention_kinds.h"
#include "model/support/ceil_div.h"

namespace platen {
namespace {

constexpr int64_t kTaskRows = EncoderAttentionMemory::kTaskRows;
constexpr int64_t kPageTokens = EncoderAttentionMemory::kPageTokens;

}  // namespace

const char* VisionAttentionName(VisionAttention attention) {
  return attention == VisionAttention::kInt8 ? "int8" : "f32";
}

void EncoderAttention::Begin(std::span<const ImageRows> images, Memory& memory) const {
  memory.images.clear();
  memory.tasks.clear();
  memory.num_patches = memory.num_pages = memory.num_blocks = 0;
  for (const ImageRows& rows : images) {
    const auto image = static_cast<int64_t>(memory.images.size());
    memory.images.push_back({rows, memory.num_pages, memory.num_blocks});
    memory.num_patches += rows.count;
    memory.num_pages += CeilDiv(rows.count, kPageTokens);
    memory.num_blocks += CeilDiv(rows.count, int64_t{kKeySplit});
    for (int64_t head = 0; head < num_heads_; ++head) {
      for (int64_t first = 0; first < rows.count; first += kTaskRows) {
        memory.tasks.push_back({image, head, first, std::min(kTaskRows, rows.count - first)});
      }
    }
  }
  memory.out.Resize(memory.num_patches, int64_t{num_heads_} * head_dim_);
  Reserve(memory);
}

// take(rows of one page) for all of `rows`.
template <class Take>
void EncoderAttention::ForPages(int64_t head, int64_t first, MatView rows, Memory& memory,
                                const Take& take) {
  const auto first_patch = [](const Memory::Image& image) { return image.rows.first; };
  auto image = std::ranges::upper_bound(memory.images, first, {}, first_patch) - 1;
  for (int64_t done = 0; done < rows.rows;) {
    const int64_t at = first + done - image->rows.first;
    const int64_t place = at % kPageTokens;
    const int64_t n = std::min({kPageTokens - place, image->rows.count - at, rows.rows - done});
    take(PageRows{head, first + done,
                  head * memory.num_pages + image->first_page + at / kPageTokens,
                  static_cast<int>(place), rows.Rows(done, n)});
    done += n;
    if (at + n == image->rows.count) ++image;
  }
}

void EncoderAttention::PutQueries(int64_t head, int64_t first, MatView rows, Memory& memory) const {
  TakeQueries(head, first, rows, memory);
}

void EncoderAttention::PutKeys(int64_t head, int64_t first, MatView rows, Memory& memory) const {
  ForPages(head, first, rows, memory, [&](const PageRows& keys) { TakeKeys(keys, memory); });
}

void EncoderAttention::PutValues(int64_t head, int64_t first, MatView rows, Memory& memory) const {
  ForPages(head, first, rows, memory, [&](const PageRows& values) { TakeValues(values, memory); });
}

std::unique_ptr<EncoderAttention> MakeEncoderAttention(const KernelTable& kernels,
                                                       VisionAttention arithmetic, int num_heads,
                                                       int head_dim) {
  return arithmetic == VisionAttention::kInt8
             ? MakeEncoderAttentionInt8(kernels, num_heads, head_dim)
             : MakeEncoderAttentionF32(kernels, num_heads, head_dim);
}

}  // namespace platen
