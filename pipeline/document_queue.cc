#include "pipeline/document_queue.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/support/attempt.h"

namespace platen {

// Written by Next alone once it has been submitted, but for `cancelled`.
struct DocumentQueue::QueuedDocument : OpenDocument {
  uint64_t id = 0;
  DocumentRequest request;
  bool opened = false;
  std::vector<int> pages;  // chosen
  size_t next_page = 0;    // of them
  uint64_t next_place = 0;
};

RequestId DocumentQueue::Submit(DocumentRequest request) {
  auto document = std::make_shared<QueuedDocument>();
  document->name = request.name;
  document->read = request.read;
  document->request = std::move(request);
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw std::logic_error("a document was handed in after the queue was closed");
    document->id = next_id_++;
    std::erase_if(known_, [](const auto& known) { return known.expired(); });
    known_.push_back(document);
    waiting_.push_back(document);
  }
  doorbell_.Ring();
  return static_cast<RequestId>(document->id);
}

void DocumentQueue::Cancel(RequestId id) {
  const std::lock_guard lock(mutex_);
  for (const auto& known : known_) {
    const std::shared_ptr<QueuedDocument> document = known.lock();
    if (!document || document->id != static_cast<uint64_t>(id)) continue;
    document->cancelled = true;
    // Its end need not wait for its turn.
    const auto turn = std::find(waiting_.begin(), waiting_.end(), document);
    if (turn != waiting_.end()) std::rotate(waiting_.begin(), turn, turn + 1);
  }
}

void DocumentQueue::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  doorbell_.Ring();
}

void DocumentQueue::Open(QueuedDocument& document) {
  document.opened = true;
  if (document.cancelled) return;
  document.error =
      AttemptWith(FailureCode::kInternal, [&] { document.reader = document.request.open(); });
  if (!document.error.empty()) return;
  document.num_pages = document.reader->num_pages();
  document.pages = SelectPages(document.request.pages, document.num_pages);
  if (document.pages.empty()) {
    document.error = {
        "has no page of the chosen range; it has " + std::to_string(document.num_pages),
        FailureCode::kNoSuchPage};
  }
}

NextPage DocumentQueue::PageOf(const std::shared_ptr<QueuedDocument>& document) {
  NextPage next = {NextPage::Status::kPage, {}};
  PageJob& job = next.job;
  job.document = document;
  const bool over = document->cancelled || document->next_page == document->pages.size();
  if (!over) job.page = document->pages[document->next_page++];
  job.last_of_document = over || document->next_page == document->pages.size();
  job.place = {document->id, document->next_place++, job.last_of_document};
  return next;
}

NextPage DocumentQueue::Next() {
  std::shared_ptr<QueuedDocument> document;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) {
      return {closed_ ? NextPage::Status::kEnd : NextPage::Status::kLater, {}};
    }
    document = std::move(waiting_.front());
    waiting_.pop_front();
  }
  if (!document->opened) Open(*document);
  NextPage next = PageOf(document);
  if (!next.job.last_of_document) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(document));
  }
  return next;
}

void DocumentQueue::Write(PageSlot& page) {
  auto& document = static_cast<QueuedDocument&>(*page.job.document);
  DocumentRequest& request = document.request;
  if (page.job.page > 0 && !document.cancelled && request.on_page) {
    request.on_page(std::move(page.result));
  }
  if (!page.job.last_of_document || !request.on_done) return;
  request.on_done(document.cancelled ? "cancelled" : document.error.text);
  request = {};
}

}  // namespace platen
