// Reading order and blocks on hand-made boxes. xh = 10, lines 20 high.
#include "stages/layout/reading_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "stages/layout/classical/blocks.h"

namespace platen::layout {
namespace {

constexpr double kXHeight = 10;

// Adds `count` lines of 20 pixels, 30 apart, from (x, y), `width` wide.
void AddLines(std::vector<Box>& boxes, double x, double y, double width, int count) {
  for (int i = 0; i < count; ++i) boxes.push_back({x, y + 30 * i, x + width, y + 30 * i + 20});
}

std::vector<int> Counting(size_t n) {
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// The order found when the boxes come shuffled, as indices into `boxes`.
std::vector<int> OrderOfShuffled(const std::vector<Box>& boxes, unsigned seed) {
  std::vector<int> shuffle = Counting(boxes.size());
  std::mt19937 random(seed);
  std::shuffle(shuffle.begin(), shuffle.end(), random);
  std::vector<Box> shuffled;
  for (int i : shuffle) shuffled.push_back(boxes[i]);
  std::vector<int> order;
  for (int i : ReadingOrder(shuffled, kXHeight)) order.push_back(shuffle[i]);
  return order;
}

TEST(ReadingOrder, OfNothingIsNothing) {
  EXPECT_TRUE(ReadingOrder({}, kXHeight).empty());
  EXPECT_EQ(ReadingOrder({{0, 0, 5, 5}}, kXHeight), std::vector<int>{0});
}

TEST(ReadingOrder, ReadsTwoColumnsOneAfterTheOther) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 8);
  AddLines(boxes, 400, 103, 300, 9);
  for (unsigned seed : {1u, 2u, 3u}) {
    EXPECT_EQ(OrderOfShuffled(boxes, seed), Counting(boxes.size())) << "shuffled by " << seed;
  }
}

TEST(ReadingOrder, ReadsHeadlineThenColumnsThenFooter) {
  std::vector<Box> boxes = {{200, 20, 560, 60}};
  AddLines(boxes, 50, 100, 300, 8);
  AddLines(boxes, 400, 100, 300, 8);
  boxes.push_back({60, 345, 690, 365});
  AddLines(boxes, 50, 400, 300, 5);
  AddLines(boxes, 400, 400, 300, 5);
  EXPECT_EQ(OrderOfShuffled(boxes, 7), Counting(boxes.size()));
}

TEST(ReadingOrder, ReadsATableRowByRow) {
  std::vector<Box> boxes;
  for (int row = 0; row < 8; ++row) {
    for (double x : {50.0, 200.0, 320.0, 500.0}) {
      boxes.push_back({x, 100.0 + 30 * row, x + 60, 120.0 + 30 * row});
    }
  }
  EXPECT_EQ(OrderOfShuffled(boxes, 11), Counting(boxes.size()));
}

TEST(ReadingOrder, ReadsAFormRowByRow) {
  std::vector<Box> boxes;
  for (int row = 0; row < 6; ++row) {
    boxes.push_back({50, 100.0 + 60 * row, 130.0 + 10 * row, 120.0 + 60 * row});
    boxes.push_back({300, 98.0 + 60 * row, 520.0 - 20 * row, 122.0 + 60 * row});
  }
  EXPECT_EQ(OrderOfShuffled(boxes, 13), Counting(boxes.size()));
}

TEST(ReadingOrder, InterlockingLinesAreNotOneRow) {
  // Descenders of the first reach into the second.
  const std::vector<Box> boxes = {{50, 100, 400, 130}, {40, 122, 410, 152}};
  EXPECT_EQ(ReadingOrder(boxes, kXHeight), (std::vector<int>{0, 1}));
}

TEST(Blocks, EndAtParagraphGapsNewColumnsAndOtherSizes) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 3);
  AddLines(boxes, 50, 230, 300, 2);       // 50 pixels further down: a new paragraph
  AddLines(boxes, 400, 100, 300, 2);      // a new column
  boxes.push_back({400, 165, 700, 205});  // twice the size
  EXPECT_EQ(GroupBlocks(boxes, kXHeight), (std::vector<int>{0, 0, 0, 1, 1, 2, 2, 3}));
}

}  // namespace
}  // namespace platen::layout
