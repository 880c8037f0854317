// How outputs show what was read. Nothing in here changes what is read.
#pragma once

namespace platen {

struct RenderOptions {
  // What stands in .md beside the text; .txt and .json have all of it.
  bool keep_headers = false;
  bool keep_footers = false;
  bool keep_page_numbers = false;
  bool keep_footnotes = true;
  bool reflow = false;  // in .txt too a paragraph is one line
};

}  // namespace platen
