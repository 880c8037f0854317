#include "pipeline/batch_source.h"

#include <algorithm>

#include "model/support/attempt.h"
#include "model/support/error.h"

namespace platen {

BatchSource::BatchSource(std::vector<InputDocument> documents, SourceOptions options,
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

NextPage BatchSource::Next() {
  while (!interrupted_()) {
    if (current_) return PageOfCurrent();
    if (next_document_ == documents_.size()) return {};
    OpenNextDocument();
  }
  current_.reset();
  return {};
}

NextPage BatchSource::PageOfCurrent() {
  NextPage next = {NextPage::Status::kPage, {}};
  PageJob& job = next.job;
  job.document = current_;
  job.page = to_read_.empty() ? 0 : to_read_[next_to_read_++];
  job.last_of_document = next_to_read_ == to_read_.size();
  job.place.index = next_place_++;
  if (job.page > 0) {
    counters_.Add(&Progress::pages_admitted, 1);
    counters_.Report();
  }
  if (job.last_of_document) current_.reset();
  return next;
}

bool BatchSource::OpenNextDocument() {
  auto document = std::make_shared<BatchDocument>();
  document->input = std::move(documents_[next_document_++]);
  document->name = document->input.shown_name();
  document->read = options_.read;
  document->error = document->input.error;
  to_read_.clear();
  next_to_read_ = 0;
  if (document->error.empty()) {
    document->error = Attempt([&] { document->key = ledger_.KeyOf(document->input); });
  }
  if (document->error.empty()) {
    if (!options_.force && ledger_.IsFinished(document->key, document->input, options_.pages)) {
      counters_.Add(&Progress::documents_skipped, 1);
      counters_.Add(&Progress::pages_skipped, ledger_.Find(document->key)->num_pages);
      return false;
    }
    Open(*document);
  }
  counters_.Add(&Progress::documents_opened, 1);
  counters_.Add(&Progress::pages_opened, static_cast<int64_t>(to_read_.size()));
  current_ = std::move(document);
  return true;
}

void BatchSource::Open(BatchDocument& document) {
  document.finished_pages = ledger_.OpenPages(document.key);
  document.error = Attempt([&] { document.reader = open_(document.input.path); });
  if (!document.error.empty()) return;
  document.num_pages = document.reader->num_pages();
  const std::vector<int> chosen = SelectPages(options_.pages, document.num_pages);
  if (chosen.empty()) {
    document.error =
        "has no page of the chosen range; it has " + std::to_string(document.num_pages);
    return;
  }
  for (const int page : chosen) {
    if (options_.force || !document.finished_pages->HasComplete(page)) to_read_.push_back(page);
  }
  document.pages = chosen;
  AddPagesReadBefore(document);
  counters_.Add(&Progress::pages_resumed,
                static_cast<int64_t>(document.pages.size() - to_read_.size()));
}

// Runs that choose different pages of a document add up: what one has read stays in the outputs.
void BatchSource::AddPagesReadBefore(BatchDocument& document) {
  std::vector<int>& pages = document.pages;
  for (const int page : document.finished_pages->CompletePages()) {
    if (page >= 1 && page <= document.num_pages) pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end());
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
}

}  // namespace platen
