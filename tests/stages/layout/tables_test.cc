// Tables from rulings and from white channels, on hand-made boxes. xh = 10, lines 20 high.
#include "stages/layout/tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace platen::layout {
namespace {

constexpr double kXHeight = 10;

// Rulings around `rows` x `columns` cells of 100 x 40 from (50, 100).
Rulings Frame(int rows, int columns) {
  Rulings rulings;
  for (int r = 0; r <= rows; ++r)
    rulings.across.push_back({100.0 + 40 * r, 50, 50.0 + 100 * columns});
  for (int c = 0; c <= columns; ++c)
    rulings.down.push_back({50.0 + 100 * c, 100, 100.0 + 40 * rows});
  return rulings;
}

Box TextIn(int row, int column) {
  return {60.0 + 100 * column, 110.0 + 40 * row, 110.0 + 100 * column, 130.0 + 40 * row};
}

std::string Describe(const Grid& grid) {
  std::string text = std::to_string(grid.rows) + "x" + std::to_string(grid.columns);
  for (const GridCell& cell : grid.cells) {
    text += " " + std::to_string(cell.row) + "," + std::to_string(cell.column);
    if (cell.row_span > 1) text += "r" + std::to_string(cell.row_span);
    if (cell.column_span > 1) text += "c" + std::to_string(cell.column_span);
    for (const int line : cell.lines) text += ":" + std::to_string(line);
  }
  return text;
}

std::vector<int> All(const std::vector<Box>& lines) {
  std::vector<int> all(lines.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(RuledTables, HaveACellBetweenAllRulings) {
  const std::vector<Box> lines = {TextIn(0, 0), TextIn(0, 1), TextIn(1, 1), {500, 500, 600, 520}};
  const std::vector<Grid> tables = FindRuledTables(lines, Frame(2, 2), kXHeight);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(Describe(tables[0]), "2x2 0,0:0 0,1:1 1,0 1,1:2");
  EXPECT_NEAR(tables[0].box.x1, 250, 1e-9);
}

TEST(RuledTables, CellsJoinWhereNoRulingPartsThem) {
  Rulings rulings = Frame(3, 3);
  rulings.down[1] = {150, 140, 220};   // not beside the first row's first cell
  rulings.across[2] = {180, 50, 250};  // not under the last cell of the second
  const std::vector<Box> lines = {TextIn(0, 0), TextIn(0, 2), TextIn(1, 0), TextIn(1, 2)};
  const std::vector<Grid> tables = FindRuledTables(lines, rulings, kXHeight);
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(Describe(tables[0]), "3x3 0,0c2:0 0,2:1 1,0:2 1,1 1,2r2:3 2,0 2,1");
}

TEST(RuledTables, TextOnBothSidesPartsCellsWhereARulingIsBroken) {
  Rulings rulings = Frame(2, 2);
  rulings.down[1] = {150, 140, 180};
  const std::vector<Box> lines = {TextIn(0, 0), TextIn(0, 1), TextIn(1, 0)};
  EXPECT_EQ(Describe(FindRuledTables(lines, rulings, kXHeight).at(0)), "2x2 0,0:0 0,1:1 1,0:2 1,1");
}

TEST(RuledTables, MayBeOpenAtTheirSides) {
  Rulings rulings = Frame(2, 3);
  rulings.down.erase(rulings.down.begin());
  rulings.down.pop_back();
  const std::vector<Box> lines = {TextIn(0, 0), TextIn(1, 2)};
  EXPECT_EQ(Describe(FindRuledTables(lines, rulings, kXHeight).at(0)),
            "2x3 0,0:0 0,1 0,2 1,0 1,1 1,2:1");
}

TEST(RuledTables, AreNoFramesAndNoUnderlines) {
  EXPECT_TRUE(FindRuledTables({TextIn(0, 0)}, Frame(1, 1), kXHeight).empty());
  const Rulings underlines = {{{100, 50, 300}, {140, 50, 300}, {180, 50, 300}}, {}};
  EXPECT_TRUE(FindRuledTables({TextIn(0, 0)}, underlines, kXHeight).empty());
}

TEST(RuledTables, OfHostileRulingsAreLeft) {
  Rulings rulings;
  for (int i = 0; i < 1000; ++i) {
    rulings.across.push_back({10.0 * i, 0, 10'000});
    rulings.down.push_back({10.0 * i, 0, 10'000});
  }
  EXPECT_TRUE(FindRuledTables({}, rulings, kXHeight).empty());
}

TEST(OpenTables, HaveTheColumnsTheirWhiteLeaves) {
  std::vector<Box> lines;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 3; ++column) {
      if (row == 2 && column == 1) continue;
      lines.push_back(TextIn(row, column));
    }
  }
  const std::optional<Grid> grid = GridOfRows(lines, All(lines), {}, kXHeight);
  ASSERT_TRUE(grid.has_value());
  EXPECT_TRUE(grid->is_table);
  EXPECT_EQ(Describe(*grid),
            "4x3 0,0:0 0,1:1 0,2:2 1,0:3 1,1:4 1,2:5 2,0:6 2,1 2,2:7 3,0:8 3,1:9 3,2:10");
}

TEST(OpenTables, ALineAcrossColumnsSpansThem) {
  std::vector<Box> lines;
  for (int row = 0; row < 10; ++row) {
    for (int column = 0; column < 3; ++column) lines.push_back(TextIn(row, column));
  }
  lines.push_back({60, 510, 220, 530});
  const std::optional<Grid> grid = GridOfRows(lines, All(lines), {}, kXHeight);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->columns, 3);
  const auto wide = std::find_if(grid->cells.begin(), grid->cells.end(),
                                 [](const GridCell& cell) { return cell.row == 10; });
  EXPECT_EQ(wide->column_span, 2);
  EXPECT_EQ(wide->lines, std::vector<int>{30});
}

TEST(OpenTables, ARowThatBeginsFurtherLeftMakesNoColumn) {
  std::vector<Box> lines;
  for (int row = 0; row < 10; ++row) {
    for (int column = 0; column < 3; ++column) lines.push_back(TextIn(row, column));
  }
  lines[12].x0 -= 12;  // a speck before it
  const std::optional<Grid> grid = GridOfRows(lines, All(lines), {}, kXHeight);
  ASSERT_TRUE(grid.has_value());
  EXPECT_EQ(grid->columns, 3);
}

TEST(OpenTables, TwoColumnsAreAFormUnlessRuled) {
  std::vector<Box> lines;
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 2; ++column) lines.push_back(TextIn(row, column));
  }
  const std::optional<Grid> form = GridOfRows(lines, All(lines), {}, kXHeight);
  ASSERT_TRUE(form.has_value());
  EXPECT_FALSE(form->is_table);
  const Rulings rulings = {{{100, 50, 250}, {140, 50, 250}, {265, 50, 250}}, {}};
  EXPECT_TRUE(GridOfRows(lines, All(lines), rulings, kXHeight)->is_table);
}

TEST(OpenTables, OneRowOrColumnIsNone) {
  const std::vector<Box> row = {TextIn(0, 0), TextIn(0, 1)}, column = {TextIn(0, 0), TextIn(1, 0)};
  EXPECT_FALSE(GridOfRows(row, All(row), {}, kXHeight).has_value());
  EXPECT_FALSE(GridOfRows(column, All(column), {}, kXHeight).has_value());
}

TEST(OpenTables, EveryLineIsInOneCell) {
  std::vector<Box> lines;
  unsigned state = 1;
  const auto next = [&](unsigned n) {
    return (state = state * 1664525u + 1013904223u) / 65536 % n;
  };
  for (int trial = 0; trial < 200; ++trial) {
    lines.clear();
    const unsigned n = 2 + next(40);
    for (unsigned i = 0; i < n; ++i) {
      const double x = next(600), y = 30.0 * next(12) + next(8);
      lines.push_back({x, y, x + 5 + next(200), y + 20});
    }
    const std::optional<Grid> grid = GridOfRows(lines, All(lines), {}, kXHeight);
    if (!grid) continue;
    std::vector<int> seen;
    for (const GridCell& cell : grid->cells) {
      EXPECT_GE(cell.column_span, 1);
      EXPECT_LE(cell.column + cell.column_span, grid->columns);
      seen.insert(seen.end(), cell.lines.begin(), cell.lines.end());
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(seen, All(lines)) << "trial " << trial;
  }
}

}  // namespace
}  // namespace platen::layout
