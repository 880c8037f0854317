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

}  // namespace

std::vector<int> GroupBlocks(const std::vector<Box>& boxes, double letter_height) {
  std::vector<int> blocks;
  int block = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (i > 0 && !ContinuesBlock(boxes[i - 1], boxes[i], letter_height)) ++block;
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace platen::layout
