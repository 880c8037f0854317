// Filling a draft layer's cache without its predictions leaves the bits of a whole pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/golden.h"
#include "tests/support/minillm.h"

namespace platen::testing {
namespace {

constexpr int kBlockTokens = 16;
constexpr int64_t kSlots = 37;  // whole blocks and a part

// The blocks of the cache that slots have behind a pass, byte for byte.
class Cache {
 public:
  Cache(const Model& model, ConstMatView embeddings, ConstMatView hidden, bool fill)
      : shape_(model.architecture().text().cache),
        pool_(shape_, KvTypeOf(model.precision()), kBlockTokens,
              2 * kSlots * KvPool::TokenBytes(shape_, KvTypeOf(model.precision()))) {
    EXPECT_TRUE(pool_.Take(pool_.BlocksFor(kSlots), blocks_));
    const auto workspace = model.draft()->MakeWorkspace();
    for (int64_t first = 0; first < kSlots; first += kSlots / 2) {
      const int64_t count = std::min(kSlots / 2, kSlots - first);
      RowBatch batch;
      batch.AddSlice(blocks_, first, count);
      for (int64_t i = first; i < first + count; ++i) {
        const auto at = static_cast<int32_t>(i);
        batch.PushPosition(at, at / 3, at % 5);
      }
      const ConstMatView e = embeddings.Rows(first, count), h = hidden.Rows(first, count);
      if (fill) {
        model.draft()->FillCache(e, h, batch, pool_, *workspace);
      } else {
        model.draft()->Forward(e, h, batch, pool_, *workspace);
      }
    }
  }

  // Of all planes.
  std::vector<std::byte> Bytes() const {
    std::vector<std::byte> all;
    const auto add = [&](const void* page, int64_t size) {
      const auto* first = static_cast<const std::byte*>(page);
      all.insert(all.end(), first, first + size);
    };
    for (const BlockId block : blocks_) {
      for (size_t p = 0; p < shape_.planes.size(); ++p) {
        const auto plane = static_cast<int>(p);
        for (int head = 0; head < shape_.planes[p].heads; ++head) {
          add(pool_.Keys(block, plane, head), pool_.pages(plane).key_bytes());
          add(pool_.Values(block, plane, head), pool_.pages(plane).value_bytes());
        }
      }
    }
    return all;
  }

 private:
  const CacheShape shape_;
  KvPool pool_;
  BlockTable blocks_;
};

void ExpectSameCache(const Model& model) {
  const int64_t width = model.architecture().text().hidden_size;
  Mat rows(2 * kSlots, width);
  float x = 0;
  for (float& value : rows.span()) value = std::sin(x += 1.7F);
  const ConstMatView embeddings = rows.View().Rows(0, kSlots);
  const ConstMatView hidden = rows.View().Rows(kSlots, kSlots);
  const Cache whole(model, embeddings, hidden, false), filled(model, embeddings, hidden, true);
  const std::vector<std::byte> expected = whole.Bytes();
  EXPECT_TRUE(std::ranges::any_of(expected, [](std::byte b) { return b != std::byte{0}; }));
  EXPECT_TRUE(filled.Bytes() == expected);
}

class DraftCache : public ::testing::TestWithParam<Precision> {};

TEST_P(DraftCache, OfGlmOcrIsThatOfAWholePass) {
  for (const char* name : {"tiny-a", "tiny-b", "tiny-c"}) {
    SCOPED_TRACE(name);
    ExpectSameCache(GoldenModel(name, GetParam()));
  }
}

// Its keys begin with a panel of weights, so that queries are left out.
TEST_P(DraftCache, OfPlatenMiniIsThatOfAWholePass) {
  const Model model(std::make_unique<Snapshot>(LoadSnapshot(SourcePath("assets/platen-mini"))),
                    BestKernels(), GetParam());
  ExpectSameCache(model);
}

TEST_P(DraftCache, OfLatentsIsThatOfAWholePass) {
  ExpectSameCache(*LoadIdModel(SourcePath("tests/golden/minillm/v3-mtp"), GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Precisions, DraftCache,
                         ::testing::Values(Precision::kF32, Precision::kInt8));

}  // namespace
}  // namespace platen::testing
