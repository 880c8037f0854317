#include "stages/layout/classical/blocks.h"

#include <algorithm>

namespace platen::layout {
namespace {

bool ContinuesBlock(const Box& above, const Box& below, double xh) {
  const double h = std::min(above.height(), below.height());
  const double gap = below.y0 - above.y1;
  return OverlapX(above, below) > 0.3 * std::min(above.width(), below.width()) && gap > -0.6 * h &&
         gap < 0.75 * std::max(h, 1.6 * xh) && std::max(above.height(), below.height()) < 1.7 * h;
}

// In letter heights: the first line of a paragraph is indented by so much; other lines begin within
// kFlush of their margin, those of a block of print at least kMostlyFlush of them.
constexpr double kLeastIndent = 0.8;
constexpr double kMostIndent = 8.0;
constexpr double kFlush = 0.5;
constexpr double kMostlyFlush = 0.6;
constexpr double kFullLine = 6.0;
constexpr double kOrdinaryIndent = 2.5;

// For each line of a block, whether it begins a paragraph by its indent.
std::vector<bool> Indented(const std::vector<Box>& boxes, size_t begin, size_t end, double xh) {
  std::vector<bool> indented(end - begin, false);
  double margin = boxes[begin].x0;
  for (size_t i = begin; i < end; ++i) margin = std::min(margin, boxes[i].x0);
  double right = boxes[begin].x1;
  for (size_t i = begin; i < end; ++i) right = std::max(right, boxes[i].x1);
  const auto flush = [&](size_t i) { return boxes[i].x0 - margin < kFlush * xh; };
  size_t at_margin = 0;
  for (size_t i = begin; i < end; ++i) at_margin += flush(i);
  if (static_cast<double>(at_margin) < kMostlyFlush * static_cast<double>(end - begin)) {
    return indented;
  }
  for (size_t i = begin + 1; i < end; ++i) {
    const double indent = boxes[i].x0 - margin;
    const bool alone = i + 1 == end || boxes[i + 1].x0 - margin < indent + kFlush * xh;
    // After a full line it may as well be the rest of an item that hangs out.
    const bool after_full_line = boxes[i - 1].x1 > right - kFullLine * xh && boxes[i].x1 < right;
    indented[i - begin] = indent > kLeastIndent * xh && indent < kMostIndent * xh && alone &&
                          (!after_full_line || indent < kOrdinaryIndent * xh);
  }
  return indented;
}

}  // namespace

std::vector<int> GroupBlocks(const std::vector<Box>& boxes, double letter_height) {
  std::vector<int> blocks;
  int block = 0;
  for (size_t begin = 0; begin < boxes.size();) {
    size_t end = begin + 1;
    while (end < boxes.size() && ContinuesBlock(boxes[end - 1], boxes[end], letter_height)) ++end;
    const std::vector<bool> indented = Indented(boxes, begin, end, letter_height);
    for (size_t i = begin; i < end; ++i) {
      if (indented[i - begin]) ++block;
      blocks.push_back(block);
    }
    ++block;
    begin = end;
  }
  return blocks;
}

}  // namespace platen::layout
