// Headers and footers, told over the pages of a document.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stages/formats/page_result.h"

namespace platen {

// Lines at the top or bottom of a page that stand at the same place on pages near it with nearly
// the same text are headers and footers. Shown all pages of a document in order, then asked for
// each.
class RunningHeads {
 public:
  void Look(const PageResult& page);

  // Gives the running heads of page `index`, counted from 0, their kinds.
  void Mark(int index, PageResult& page) const;

 private:
  struct Candidate {
    int page;
    size_t region;
    bool top;
    double place;  // share of the page's height
    std::string text;
  };

  bool Repeats(const Candidate& head) const;

  int pages_ = 0;
  std::vector<Candidate> candidates_;  // by page
};

}  // namespace platen
