#include "pipeline/page_source.h"

#include "model/support/error.h"
#include "pipeline/attempt.h"

namespace platen {

PageSource::PageSource(std::vector<InputDocument> documents, SourceOptions options,
                       const Ledger& ledger, OpenReader open, std::function<bool()> interrupted,
                       ProgressCounters& counters)
    : documents_(std::move(documents)),
      options_(std::move(options)),
      ledger_(ledger),
      open_(std::move(open)),
      interrupted_(std::move(interrupted)),
      counters_(counters) {
  counters_.Add(&Progress::documents_total, static_cast<int64_t>(documents_.size()));
}

std::optional<PageJob> PageSource::Next() {
  while (!interrupted_()) {
    if (current_) return NextPage();
    if (next_document_ == documents_.size()) return std::nullopt;
    OpenNextDocument();
  }
  current_.reset();
  return std::nullopt;
}

std::optional<PageJob> PageSource::NextPage() {
  PageJob job;
  job.document = current_;
  job.page = to_read_.empty() ? 0 : to_read_[next_to_read_++];
  job.last_of_document = next_to_read_ == to_read_.size();
  job.sequence = next_sequence_++;
  if (job.last_of_document) current_.reset();
  return job;
}

bool PageSource::OpenNextDocument() {
  auto document = std::make_shared<OpenDocument>();
  document->input = std::move(documents_[next_document_++]);
  document->error = document->input.error;
  to_read_.clear();
  next_to_read_ = 0;
  if (document->error.empty()) {
    document->error = Attempt([&] { document->key = ledger_.KeyOf(document->input); });
  }
  if (document->error.empty()) {
    if (!options_.force && ledger_.IsFinished(document->key, document->input)) {
      counters_.Add(&Progress::documents_skipped, 1);
      counters_.Add(&Progress::pages_skipped, ledger_.PagesOf(document->key));
      return false;
    }
    Open(*document);
  }
  current_ = std::move(document);
  return true;
}

void PageSource::Open(OpenDocument& document) {
  document.finished_pages = ledger_.OpenPages(document.key, options_.force);
  document.error = Attempt([&] { document.reader = open_(document.input.path); });
  if (!document.error.empty()) return;
  ListPages(document);
  for (const int page : document.pages) {
    if (!document.finished_pages->HasComplete(page)) to_read_.push_back(page);
  }
  counters_.Add(&Progress::pages_resumed,
                static_cast<int64_t>(document.pages.size() - to_read_.size()));
}

void PageSource::ListPages(OpenDocument& document) {
  const int num_pages = document.reader->num_pages();
  document.pages = SelectPages(options_.pages, num_pages);
  if (document.pages.empty()) {
    document.error = "has no page of the chosen range; it has " + std::to_string(num_pages);
  }
}

}  // namespace platen
