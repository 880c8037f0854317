// How many pixels are in memory at once: pages wait here until there is room for theirs.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "pipeline/messages.h"

namespace platen {

// A slot bounds the number of pages, not their size: eight pages of 200 megapixels are 7 GB. A page
// is let in when its pixels fit beside those that are decoded already, or when there are none, so
// that every page comes through; in the order of arrival, so that a large one is not overtaken for
// ever. It cannot deadlock: pages inside give their pixels back without waiting for anybody. Used
// by one serial node.
class PixelGate {
 public:
  explicit PixelGate(int64_t most_pixels) : most_pixels_(most_pixels) {}

  void Add(PageSlot& page) { waiting_.push_back(&page); }
  void GiveBack(int64_t pixels) { inside_ -= pixels; }

  // Pages that may be decoded now. Their pixels (PageSlot::pixels) count until they are given back.
  std::vector<PageSlot*> Admit() {
    std::vector<PageSlot*> admitted;
    while (!waiting_.empty()) {
      PageSlot* page = waiting_.front();
      if (inside_ > 0 && page->pixels > most_pixels_ - inside_) break;
      waiting_.pop_front();
      inside_ += page->pixels;
      admitted.push_back(page);
    }
    return admitted;
  }

 private:
  int64_t most_pixels_;
  int64_t inside_ = 0;
  std::deque<PageSlot*> waiting_;
};

}  // namespace platen
