#include "model/engine/drafters/hidden_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace platen {
namespace {

constexpr int64_t kWidth = 5;
constexpr int64_t kChunkBytes = HiddenRowPool::kChunkRows * kWidth * int64_t{sizeof(float)};

Mat Numbered(int64_t first, int64_t count) {
  Mat rows(count, kWidth);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t c = 0; c < kWidth; ++c) rows.View().Row(r)[c] = static_cast<float>(first + r);
  }
  return rows;
}

void ExpectNumbers(const HiddenRows& rows, int64_t first) {
  Mat out(rows.size(), kWidth);
  rows.CopyFirst(out.View());
  for (int64_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(out.View().Row(r)[kWidth - 1], static_cast<float>(first + r));
  }
}

TEST(HiddenRows, KeepsRowsInOrderOverTheEndsOfChunks) {
  HiddenRowPool pool(kWidth, 100 * kChunkBytes);
  HiddenRows rows(pool, 10);  // grows beyond
  int64_t next = 0;
  for (const int64_t count : {1, 30, 1, 1, 31, 64, 9, 200}) {
    ASSERT_TRUE(rows.Append(Numbered(next, count).View()));
    next += count;
    ASSERT_EQ(rows.size(), next);
    ExpectNumbers(rows, 0);
  }
  rows.Clear();
  EXPECT_EQ(rows.size(), 0);
  ASSERT_TRUE(rows.Append(Numbered(7, 3).View()));
  ExpectNumbers(rows, 7);
}

TEST(HiddenRows, TheFirstCanGoAnyNumberAtATime) {
  HiddenRowPool pool(kWidth, 4 * kChunkBytes);
  HiddenRows rows(pool, 100);
  int64_t first = 0, next = 0;
  for (const int64_t dropped : {0, 1, 30, 1, 32, 33, 64, 7, 40}) {
    const int64_t count = 90 - rows.size();  // four chunks, wherever the first row lies
    ASSERT_TRUE(rows.Append(Numbered(next, count).View())) << dropped;
    next += count;
    rows.DropFirst(dropped);
    first += dropped;
    ASSERT_EQ(rows.size(), next - first);
    ExpectNumbers(rows, first);
  }
}

TEST(HiddenRows, TakesNoMoreThanThePoolHasAndLosesNothingOverIt) {
  HiddenRowPool pool(kWidth, 3 * kChunkBytes);
  HiddenRows first(pool, 100), second(pool, 100);
  ASSERT_TRUE(first.Append(Numbered(0, 40).View()));  // two chunks
  ASSERT_TRUE(second.Append(Numbered(50, 20).View()));
  EXPECT_FALSE(first.Append(Numbered(40, 30).View()));
  EXPECT_EQ(first.size(), 40);
  ExpectNumbers(first, 0);
  EXPECT_TRUE(first.Append(Numbered(40, 24).View())) << "what its chunks have room for";
  second.Clear();
  EXPECT_TRUE(first.Append(Numbered(64, 32).View()));
  ExpectNumbers(first, 0);
}

TEST(HiddenRows, ThePoolHasAlwaysAChunk) {
  HiddenRowPool pool(kWidth, 0);
  HiddenRows rows(pool, 1);
  EXPECT_TRUE(rows.Append(Numbered(0, 1).View()));
}

TEST(HiddenRows, ChunksComeBackWhenASequenceGoes) {
  HiddenRowPool pool(kWidth, kChunkBytes);
  for (int i = 0; i < 3; ++i) {
    HiddenRows rows(pool, 32);
    EXPECT_TRUE(rows.Append(Numbered(0, 32).View()));
    EXPECT_EQ(pool.Take(), nullptr);
  }
  EXPECT_NE(pool.Take(), nullptr);
}

}  // namespace
}  // namespace platen
