// Pages of many streams, each stream in its order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "pipeline/messages.h"

namespace platen {

// Holds back pages that are ready before their predecessors. Remembers nothing of a stream whose
// last page has been given out. Used by one serial node.
class PageOrder {
 public:
  // The pages that may be written now that this one is ready, in order.
  std::vector<PageSlot*> Add(PageSlot& page) {
    const uint64_t name = page.job.place.stream;
    Stream& stream = streams_[name];
    stream.early.emplace(page.job.place.index, &page);
    std::vector<PageSlot*> ready;
    while (!stream.early.empty() && stream.early.begin()->first == stream.next) {
      ready.push_back(stream.early.begin()->second);
      stream.early.erase(stream.early.begin());
      ++stream.next;
    }
    if (!ready.empty() && ready.back()->job.place.last) streams_.erase(name);
    return ready;
  }

  size_t num_streams() const { return streams_.size(); }

 private:
  struct Stream {
    uint64_t next = 0;
    std::map<uint64_t, PageSlot*> early;
  };
  std::map<uint64_t, Stream> streams_;
};

}  // namespace platen
