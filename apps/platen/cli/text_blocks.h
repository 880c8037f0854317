// The texts of commands in pieces.
#pragma once

#include <string>
#include <vector>

namespace platen {

struct TextBlock {
  bool as_it_is = false;  // lines to be shown so, each with its end; else a paragraph in one line
  std::string text;
};

// The blocks of a text of CommandSpec, in order.
std::vector<TextBlock> TextBlocks(const std::string& text);

}  // namespace platen
