#include "stages/layout/page_blocks.h"

#include <algorithm>
#include <utility>

#include "stages/layout/line_columns.h"
#include "stages/layout/reading_order.h"

namespace platen::layout {
namespace {

PageBlock TableBlock(Grid grid) {
  PageBlock block;
  for (const GridCell& cell : grid.cells) {
    block.lines.insert(block.lines.end(), cell.lines.begin(), cell.lines.end());
  }
  block.grid = std::move(grid);
  return block;
}

// Blocks of the lines that no ruled table holds.
void AddOpenBlocks(const std::vector<Box>& lines, const std::vector<bool>& taken,
                   const Rulings& rulings, double xh, std::vector<PageBlock>& blocks) {
  std::vector<Box> boxes;
  std::vector<int> index;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (taken[i]) continue;
    boxes.push_back(lines[i]);
    index.push_back(static_cast<int>(i));
  }
  for (const LineGroup& group : GroupLines(boxes, xh)) {
    PageBlock block;
    for (int i : group.lines) block.lines.push_back(index[static_cast<size_t>(i)]);
    if (group.in_rows) {
      std::optional<Grid> grid = GridOfRows(lines, block.lines, rulings, xh);
      if (grid) block = TableBlock(std::move(*grid));
    }
    blocks.push_back(std::move(block));
  }
}

}  // namespace

std::vector<PageBlock> PageBlocks(const PageMarks& marks, double letter_height) {
  const std::vector<Box>& lines = marks.lines;
  std::vector<PageBlock> blocks;
  std::vector<bool> taken(lines.size(), false);
  for (Grid& grid : FindRuledTables(lines, marks.rulings, letter_height)) {
    PageBlock block = TableBlock(std::move(grid));
    const bool free = std::none_of(block.lines.begin(), block.lines.end(),
                                   [&](int i) { return taken[static_cast<size_t>(i)]; });
    if (!free || block.lines.size() < 2) continue;
    for (int i : block.lines) taken[static_cast<size_t>(i)] = true;
    blocks.push_back(std::move(block));
  }
  AddOpenBlocks(lines, taken, marks.rulings, letter_height, blocks);
  for (PageBlock& block : blocks) {
    block.box = block.grid ? block.grid->box : lines[static_cast<size_t>(block.lines[0])];
    for (int i : block.lines) block.box = Union(block.box, lines[static_cast<size_t>(i)]);
  }
  for (const Box& picture : marks.pictures) blocks.push_back({picture, {}, {}});

  std::vector<Box> boxes;
  for (const PageBlock& block : blocks) boxes.push_back(block.box);
  std::vector<PageBlock> ordered;
  for (int b : ReadingOrder(boxes, letter_height)) {
    ordered.push_back(std::move(blocks[static_cast<size_t>(b)]));
  }
  return ordered;
}

}  // namespace platen::layout
