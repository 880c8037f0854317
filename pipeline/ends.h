// The two ends of the graph: where pages come from and where their results go. A batch over files
// (batch_source.h, batch_sink.h) is one pair of ends, documents handed in by other threads
// (document_queue.h) another.
#pragma once

#include "pipeline/doorbell.h"
#include "pipeline/messages.h"

namespace platen {

// What a source answers.
struct NextPage {
  enum class Status {
    kPage,
    kLater,  // nothing now; the doorbell rings when there is
    kEnd,    // nothing now or later
  };
  Status status = Status::kEnd;
  PageJob job;  // of kPage
};

// Used by one thread at a time.
class PageSource {
 public:
  virtual ~PageSource() = default;
  // Asked whenever a slot is free. An exception ends the run.
  virtual NextPage Next() = 0;
  // Of a source that says kLater; rings after Next would say something else. Outlives the run.
  virtual Doorbell* doorbell() { return nullptr; }
};

class PageSink {
 public:
  virtual ~PageSink() = default;
  // What can be done for a page before its turn. Called by many threads at once, on different
  // slots; an exception ends the run.
  virtual void Prepare(PageSlot& page) { static_cast<void>(page); }
  // Used by one thread at a time.
  // Gets the pages of each stream in their order. The slot's result may be moved from. An exception
  // ends the run.
  virtual void Write(PageSlot& page) = 0;
};

}  // namespace platen
