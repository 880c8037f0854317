// The pool of attention blocks as the engine sees it.
#include "model/ops/kv_cache.h"

#include <gtest/gtest.h>

#include "model/support/error.h"

namespace platen {
namespace {

CacheShape LargeModel() {
  CacheShape shape;
  shape.planes.assign(16, {8, 128, 128});
  return shape;
}

CacheShape SmallModel() {
  CacheShape shape;
  shape.planes.assign(1, {1, 16, 16});
  return shape;
}

TEST(KvPool, BlocksChangeHandsWithoutBeingFreeInBetween) {
  const CacheShape shape = SmallModel();
  KvPool pool(shape, KvType::kF32, 16, 4 * 16 * KvPool::TokenBytes(shape, KvType::kF32));
  ASSERT_EQ(pool.total_blocks(), 4);
  BlockTable giver, taker;
  ASSERT_TRUE(pool.Take(3, giver));
  ASSERT_TRUE(pool.Take(1, taker));
  EXPECT_FALSE(pool.Take(2, taker));
  EXPECT_FALSE(pool.TakeFrom(giver, 5, taker)) << "more than there are";
  EXPECT_EQ(giver.size(), 3U);
  EXPECT_EQ(taker.size(), 1U);
  const BlockId first = taker.front();
  EXPECT_TRUE(pool.TakeFrom(giver, 3, taker));
  EXPECT_TRUE(giver.empty());
  ASSERT_EQ(taker.size(), 3U);
  EXPECT_EQ(taker.front(), first) << "blocks that are held stay where they are";
  EXPECT_EQ(pool.free_blocks(), 1);
  EXPECT_EQ(pool.peak_blocks_used(), 4);
  pool.Release(taker);
  EXPECT_EQ(pool.free_blocks(), 4);
}

TEST(KvPool, SaysWhichOptionIsTooLargeForTheMachine) {
  // No address space of x86-64 holds 2^50 bytes.
  try {
    const KvPool pool(LargeModel(), KvType::kBf16, 32, int64_t{1} << 50);
    FAIL() << "reserved";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(),
                 "the attention cache: cannot reserve 1,073,741,824 MiB of address space (Cannot "
                 "allocate memory); give a smaller --kv-cache-mib");
  }
}

}  // namespace
}  // namespace platen
