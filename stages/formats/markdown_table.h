// Tables in Markdown.
#pragma once

#include <string>

#include "stages/formats/page_result.h"

namespace platen {

// A pipe table with the first row as its head; with spans HTML, which Markdown allows. `region` has
// a table.
std::string MarkdownTable(const RegionResult& region);

}  // namespace platen
