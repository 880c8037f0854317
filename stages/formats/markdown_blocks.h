// Regions as blocks of Markdown.
#pragma once

#include <string>
#include <string_view>

#include "stages/formats/page_result.h"
#include "stages/formats/reflow.h"

namespace platen {

// What a block depends on beside its region.
struct BlockContext {
  std::string_view formula_number = {};  // stands beside the formula: "(3)"
  bool number_is_text = false;           // of a list item: Markdown would count otherwise
};

// The block of a region that has text or a picture, without a line break at its end. Text that was
// read line by line is plain text: its paragraphs are joined to one line each and escaped. A region
// read as a whole is the model's own Markdown, HTML or LaTeX; where that would swallow what follows
// it (a table's HTML that is not closed, a formula's LaTeX that is not balanced) it is shown as it
// is, in a fence.
std::string MarkdownBlock(const PageResult& page, const RegionResult& region,
                          const PageWords& words, const BlockContext& context = {});

}  // namespace platen
