// Rows that share the blocks of their first keys are computed together; each must be what it is
// alone, bit for bit.
#include "model/ops/gqa_attention.h"

#include <gtest/gtest.h>

#include "tests/model/kernels/framed.h"

namespace platen {
namespace {

constexpr int kBlock = 16;

float Noise(uint64_t i) { return static_cast<float>(i * 2654435761U % 1024) / 512 - 1; }

// Chains as a trainer has them: chain r sees the tokens before first + r in shared blocks, and goes
// on in blocks of its own, of which the first begins with copies.
class Chains {
 public:
  Chains(const KernelTable& kernels, GqaShape shape, KvType type, std::vector<int64_t> lengths)
      : kernels_(kernels),
        shape_(shape),
        lengths_(std::move(lengths)),
        cache_{.planes = {{shape.num_kv_heads, shape.head_dim, shape.head_dim}}},
        pool_(cache_, type, kBlock, kTokens * KvPool::TokenBytes(cache_, type)),
        attention_(shape, kernels, kernels.rope_adjacent) {
    EXPECT_TRUE(pool_.Take(kShared / kBlock, shared_));
    Fill(shared_, 0, kShared, 1);
    for (size_t r = 0; r < lengths_.size(); ++r) {
      const int64_t whole = std::min(kShared, lengths_[r]) / kBlock;
      BlockTable own;
      EXPECT_TRUE(pool_.Take(pool_.BlocksFor(lengths_[r]) - whole, own));
      BlockTable& table = tables_.emplace_back(shared_.begin(), shared_.begin() + whole);
      table.insert(table.end(), own.begin(), own.end());
      Fill(table, whole * kBlock, lengths_[r], 100 + r);
    }
  }

  // The results of some chains in one batch.
  std::vector<float> Attend(size_t first, size_t count) {
    RowBatch batch;
    for (size_t r = first; r < first + count; ++r) {
      batch.AddSlice(tables_[r], lengths_[r] - 1, 1);
      batch.PushPosition(0, 0, 0);
    }
    GqaWorkspace ws;
    attention_.Begin(batch, pool_, ws);
    attention_.ReserveQueries(batch.num_rows(), ws);
    for (int64_t h = 0; h < shape_.num_heads; ++h) {
      for (size_t r = 0; r < count; ++r) {
        for (int64_t i = 0; i < shape_.head_dim; ++i) {
          const auto row = h * static_cast<int64_t>(count) + static_cast<int64_t>(r);
          ws.queries.data()[row * shape_.head_dim + i] =
              3 * Noise((first + r) * 7919 + static_cast<uint64_t>(h * 131 + i));
        }
      }
    }
    attention_.Attend(0, batch, pool_, ws);
    most_slices_ = 0;
    for (const auto& task : ws.tasks) most_slices_ = std::max(most_slices_, task.num_slices);
    const auto all = ws.attention_out.span();
    return {all.begin(), all.end()};
  }

  size_t count() const { return lengths_.size(); }
  int64_t most_slices() const { return most_slices_; }

 private:
  static constexpr int64_t kShared = 640, kTokens = 80 * 640;

  // Keys and values of tokens first .. end - 1.
  void Fill(const BlockTable& blocks, int64_t first, int64_t end, uint64_t seed) {
    const auto d = static_cast<size_t>(shape_.head_dim);
    std::vector<float> row(d);
    for (int64_t t = first; t < end; ++t) {
      for (int head = 0; head < shape_.num_kv_heads; ++head) {
        const BlockId block = blocks[static_cast<size_t>(t / kBlock)];
        const auto at = static_cast<int>(t % kBlock);
        const TokenRows rows = {row.data(), shape_.head_dim, 1};
        const auto base = (seed * 10007 + static_cast<uint64_t>(t * 16 + head)) * 512;
        for (size_t i = 0; i < d; ++i) row[i] = Noise(base + i);
        pool_.WriteKeys(kernels_, block, 0, head, at, rows);
        for (size_t i = 0; i < d; ++i) row[i] = Noise(base + 256 + i);
        pool_.WriteValues(kernels_, block, 0, head, at, rows);
      }
    }
  }

  const KernelTable& kernels_;
  const GqaShape shape_;
  const std::vector<int64_t> lengths_;
  const CacheShape cache_;
  KvPool pool_;
  GqaAttention attention_;
  BlockTable shared_;
  std::vector<BlockTable> tables_;
  int64_t most_slices_ = 0;
};

void ExpectRowsAlone(Chains& chains, int64_t together) {
  const std::vector<float> all = chains.Attend(0, chains.count());
  EXPECT_EQ(chains.most_slices(), together);
  const size_t width = all.size() / chains.count();
  for (size_t r = 0; r < chains.count(); ++r) {
    const std::vector<float> alone = chains.Attend(r, 1);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(),
                           all.begin() + static_cast<std::ptrdiff_t>(r * width)))
        << "chain " << r;
  }
}

TEST(GqaAttentionTest, ChainsThatShareTheirFirstKeysAreWhatTheyAreAlone) {
  std::vector<int64_t> lengths;
  for (int64_t r = 0; r < 70; ++r) lengths.push_back(500 + r);
  for (const KernelTable* kernels : Tables()) {
    for (const KvType type : {KvType::kF32, KvType::kBf16}) {
      SCOPED_TRACE(kernels->name);
      Chains chains(*kernels, {.num_heads = 6, .num_kv_heads = 2, .head_dim = 32}, type, lengths);
      ExpectRowsAlone(chains, 64);
    }
  }
}

// Some share two splits, some one, one ends with the shared keys, some share none.
TEST(GqaAttentionTest, ChainsOfDifferentLengthsToo) {
  const KernelTable kernels = BestKernels();
  Chains chains(kernels, {.num_heads = 40, .num_kv_heads = 2, .head_dim = 16}, KvType::kF32,
                {520, 530, 300, 512, 20, 255, 600, 256, 900, 257});
  ExpectRowsAlone(chains, 4);
}

}  // namespace
}  // namespace platen
