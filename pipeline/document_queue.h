// Documents that other threads hand in while the graph runs, and hand back as they are read: the
// ends of a graph that serves.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "pipeline/ends.h"
#include "stages/formats/page_result.h"
#include "stages/inputs/discover.h"

namespace platen {

// One document and what is asked of it. The functions are called by threads of the graph, one at a
// time; they must be short and must not throw. They are destroyed with the request.
struct DocumentRequest {
  std::string name;  // for messages and traces
  // Opens the document, once, when its turn comes. What it throws is the document's error.
  std::function<std::unique_ptr<DocumentReader>()> open;
  ReadOptions read;
  std::vector<PageRange> pages;  // chosen; empty: all
  // Each chosen page, in order, also those that failed (PageResult::error).
  std::function<void(PageResult)> on_page;
  // After the last page. `error` not empty: the document could not be opened, or was cancelled.
  std::function<void(const std::string& error)> on_done;
};

// Names a request of one queue; never used twice.
enum class RequestId : uint64_t {};

// Submit, Cancel and Close may be called by any thread at any time, also before the graph runs; not
// by the functions of a request. Next and Write are the graph's.
//
// Documents take turns page by page, so a long one does not make a short one wait. Each is a stream
// of its own: its pages come in order, documents overtake each other.
class DocumentQueue : public PageSource, public PageSink {
 public:
  // After Close a request is refused: throws std::logic_error.
  RequestId Submit(DocumentRequest request);
  // Its pages that are not yet read come to nothing, and on_done says "cancelled". A request that
  // is done, or is none, is left alone.
  void Cancel(RequestId id);
  // No request follows. The graph ends when all are done.
  void Close();

  NextPage Next() override;
  Doorbell* doorbell() override { return &doorbell_; }
  void Write(PageSlot& page) override;

 private:
  struct QueuedDocument;

  static void Open(QueuedDocument& document);
  NextPage PageOf(const std::shared_ptr<QueuedDocument>& document);

  Doorbell doorbell_;
  std::mutex mutex_;  // guards all below; never held while a request's functions run
  std::deque<std::shared_ptr<QueuedDocument>> waiting_;  // with pages to give, by turns
  std::vector<std::weak_ptr<QueuedDocument>> known_;     // for Cancel
  uint64_t next_id_ = 0;
  bool closed_ = false;
};

}  // namespace platen
