#include "apps/platen/cli/text_blocks.h"

#include <sstream>

namespace platen {

std::vector<TextBlock> TextBlocks(const std::string& text) {
  std::vector<TextBlock> blocks;
  bool starts = true;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) {
      starts = true;
      continue;
    }
    const bool as_it_is = line[0] == ' ';
    if (starts || blocks.back().as_it_is != as_it_is) blocks.push_back({as_it_is, ""});
    starts = false;
    std::string& block = blocks.back().text;
    if (!as_it_is && !block.empty()) block += ' ';
    block += line;
    if (as_it_is) block += '\n';
  }
  return blocks;
}

}  // namespace platen
