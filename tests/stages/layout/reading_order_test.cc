// Reading order and blocks on hand-made boxes. xh = 10, lines 20 high.
#include "stages/layout/reading_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "stages/layout/classical/blocks.h"
#include "stages/layout/page_blocks.h"

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

std::vector<int> OrderOfLines(const std::vector<Box>& lines) {
  std::vector<int> order;
  for (const PageBlock& block : PageBlocks({lines, {}, {}}, kXHeight)) {
    order.insert(order.end(), block.lines.begin(), block.lines.end());
  }
  return order;
}

// The order found when the boxes come shuffled, as indices into `boxes`.
std::vector<int> OrderOfShuffled(const std::vector<Box>& boxes, unsigned seed) {
  std::vector<int> shuffle = Counting(boxes.size());
  std::mt19937 random(seed);
  std::shuffle(shuffle.begin(), shuffle.end(), random);
  std::vector<Box> shuffled;
  for (int i : shuffle) shuffled.push_back(boxes[i]);
  std::vector<int> order;
  for (int i : OrderOfLines(shuffled)) order.push_back(shuffle[i]);
  return order;
}

TEST(ReadingOrder, OfNothingIsNothing) {
  EXPECT_TRUE(OrderOfLines({}).empty());
  EXPECT_EQ(OrderOfLines({{0, 0, 5, 5}}), std::vector<int>{0});
  EXPECT_TRUE(ReadingOrder({}, kXHeight).empty());
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
  EXPECT_EQ(OrderOfLines(boxes), (std::vector<int>{0, 1}));
}

TEST(ReadingOrder, AHeadlineOverBothColumnsPartsThem) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 6);
  AddLines(boxes, 400, 107, 300, 6);
  boxes.push_back({60, 310, 690, 335});
  AddLines(boxes, 50, 360, 300, 6);
  AddLines(boxes, 400, 353, 300, 6);
  EXPECT_EQ(OrderOfShuffled(boxes, 3), Counting(boxes.size()));
}

TEST(ReadingOrder, APageNumberUnderTheFirstColumnIsReadLast) {
  std::vector<Box> boxes = {{600, 20, 640, 40}};
  AddLines(boxes, 50, 100, 300, 12);
  AddLines(boxes, 400, 100, 300, 6);
  boxes.push_back({180, 500, 220, 520});
  EXPECT_EQ(OrderOfShuffled(boxes, 5), Counting(boxes.size()));
}

TEST(ReadingOrder, ColumnsMayBeginAtDifferentHeightsBetweenWideLines) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 650, 3);
  AddLines(boxes, 50, 200, 300, 9);  // begins a line above the other column
  AddLines(boxes, 400, 245, 300, 8);
  AddLines(boxes, 50, 490, 120, 1);  // a heading on the left
  AddLines(boxes, 50, 520, 650, 4);
  EXPECT_EQ(OrderOfShuffled(boxes, 9), Counting(boxes.size()));
}

TEST(ReadingOrder, AFewLinesUnderAPhotoBelongToTheirColumn) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 20);
  AddLines(boxes, 400, 100, 300, 5);
  AddLines(boxes, 400, 640, 300, 2);  // on the heights of lines of the other column
  EXPECT_EQ(OrderOfShuffled(boxes, 5), Counting(boxes.size()));
}

TEST(ReadingOrder, AnInsetComesAfterTheColumnsAroundIt) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 4);
  for (int i = 4; i < 9; ++i) boxes.push_back({50, 100.0 + 30 * i, 260, 120.0 + 30 * i});
  AddLines(boxes, 50, 370, 300, 4);
  AddLines(boxes, 400, 100, 300, 4);
  for (int i = 4; i < 9; ++i) boxes.push_back({490, 100.0 + 30 * i, 700, 120.0 + 30 * i});
  AddLines(boxes, 400, 370, 300, 4);
  AddLines(boxes, 290, 235, 170, 3);
  EXPECT_EQ(OrderOfShuffled(boxes, 5), Counting(boxes.size()));
}

TEST(ReadingOrder, ValuesStayWithTheirLabelsAlsoFarAway) {
  std::vector<Box> boxes;
  for (int row = 0; row < 8; ++row) {
    boxes.push_back({50, 100.0 + 40 * row, 130, 120.0 + 40 * row});
    if (row % 3 != 1) boxes.push_back({420, 99.0 + 40 * row, 500, 121.0 + 40 * row});
  }
  EXPECT_EQ(OrderOfShuffled(boxes, 2), Counting(boxes.size()));
}

TEST(ReadingOrder, TheLastWordOfAWideLineIsNoLabelOfTheNextColumn) {
  std::vector<Box> boxes;
  AddLines(boxes, 50, 100, 300, 4);
  boxes.push_back({50, 220, 230, 240});  // a line set wide
  boxes.push_back({330, 222, 350, 240});
  AddLines(boxes, 50, 250, 300, 4);
  AddLines(boxes, 372, 100, 300, 9);
  EXPECT_EQ(OrderOfShuffled(boxes, 5), Counting(boxes.size()));
}

TEST(ReadingOrder, WideValuesFarBelowOneAnotherAreNoRunningText) {
  std::vector<Box> boxes;
  for (int row = 0; row < 3; ++row) {
    boxes.push_back({50, 102.0 + 62 * row, 150, 118.0 + 62 * row});  // too low for a column
    boxes.push_back({400, 100.0 + 62 * row, 620, 120.0 + 62 * row});
  }
  EXPECT_EQ(OrderOfShuffled(boxes, 3), Counting(boxes.size()));
}

TEST(ReadingOrder, AnAddressIsReadBeforeTheFactsFarBesideIt) {
  std::vector<Box> boxes;
  for (int row = 0; row < 3; ++row) boxes.push_back({50, 100.0 + 30 * row, 150, 120.0 + 30 * row});
  for (int row = 0; row < 3; ++row) {
    boxes.push_back({450, 100.0 + 30 * row, 540, 120.0 + 30 * row});
    boxes.push_back({610, 100.0 + 30 * row, 680, 120.0 + 30 * row});
  }
  EXPECT_EQ(OrderOfShuffled(boxes, 2), Counting(boxes.size()));
}

TEST(ReadingOrder, OfThousandsOfScrapsIsQuick) {
  std::vector<Box> boxes;
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const double x = static_cast<double>(random() % 1500), y = static_cast<double>(random() % 2200);
    boxes.push_back({x, y, x + 10 + static_cast<double>(random() % 40), y + 12});
  }
  std::vector<int> order = OrderOfLines(boxes);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, Counting(boxes.size()));
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
