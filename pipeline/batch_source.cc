#include "pipeline/batch_source.h"

#include <algorithm>

#include "model/support/attempt.h"
#include "model/support/clock.h"
#include "model/support/error.h"
#include "stages/formats/document_writer.h"

namespace platen {

BatchSource::BatchSource(DocumentList documents, SourceOptions options, const Ledger& ledger,
                         KeysInFlight& keys, OpenReader open, std::function<bool()> interrupted,
                         ProgressCounters& counters)
    : documents_(std::move(documents)),
      options_(std::move(options)),
      ledger_(ledger),
      keys_(keys),
      open_(std::move(open)),
      interrupted_(std::move(interrupted)),
      counters_(counters) {
  counters_.Add(&Progress::documents_total, static_cast<int64_t>(documents_.size()));
}

NextPage BatchSource::Next() {
  while (!interrupted_()) {
    if (current_) {
      reached_max_pages_ =
          options_.max_pages > 0 && !to_read_.empty() && pages_given_ == options_.max_pages;
      if (reached_max_pages_) break;
      return PageOfCurrent();
    }
    if (next_document_ < documents_.size()) {
      OpenNextDocument();
    } else if (put_off_.empty()) {
      return {};
    } else if (!OpenPutOff()) {
      return {NextPage::Status::kLater, {}};
    }
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
    ++pages_given_;
    counters_.Add(&Progress::pages_admitted, 1);
    counters_.Report();
  }
  if (job.last_of_document) current_.reset();
  return next;
}

void BatchSource::OpenNextDocument() {
  auto document = std::make_shared<BatchDocument>();
  document->input = documents_[next_document_++];
  document->name = document->input.shown_name();
  document->read = options_.read;
  document->limits = options_.limits;
  document->error = document->input.error;
  if (document->error.empty()) {
    document->error = AttemptWith(FailureCode::kInternal, [&] {
      document->known = ledger_.Know(document->input, options_.patience_s);
    });
  }
  document->identity = document->known.content.sha256;
  if (document->error.empty() && IsFinished(*document)) {
    counters_.Add(&Progress::documents_skipped, 1);
    counters_.Add(&Progress::pages_skipped, ledger_.Find(document->input.output)->num_pages);
  } else if (!document->error.empty() || keys_.Claim(document->known.key)) {
    Begin(std::move(document));
  } else {
    put_off_.push_back(std::move(document));
  }
}

bool BatchSource::IsFinished(const BatchDocument& document) const {
  return !options_.force && ledger_.IsFinished(document.known, document.input, options_.pages);
}

// One whose content is no longer being read; false: there is none.
bool BatchSource::OpenPutOff() {
  const auto free = std::find_if(put_off_.begin(), put_off_.end(), [&](const auto& document) {
    return keys_.Claim(document->known.key);
  });
  if (free == put_off_.end()) return false;
  std::shared_ptr<BatchDocument> document = std::move(*free);
  put_off_.erase(free);
  Begin(std::move(document));
  return true;
}

void BatchSource::Begin(std::shared_ptr<BatchDocument> document) {
  to_read_.clear();
  next_to_read_ = 0;
  document->began_ns = MonotonicNs();
  if (document->error.empty()) Open(*document);
  counters_.Add(&Progress::documents_opened, 1);
  counters_.Add(&Progress::pages_opened, static_cast<int64_t>(to_read_.size()));
  if (document->error.empty()) {
    counters_.Add(&Progress::pages_resumed,
                  static_cast<int64_t>(document->pages.size() - to_read_.size()));
  }
  current_ = std::move(document);
}

// A document whose pages are all stored is not opened, unless an output shows them: its outputs are
// made from what is stored.
void BatchSource::Open(BatchDocument& document) {
  document.finished_pages = ledger_.results().Open(document.known.key);
  const auto& stored = document.finished_pages->head();
  if (stored && !options_.force) {
    document.num_pages = stored->of_pages;
    document.error = AttemptWith(FailureCode::kInternal, [&] { ChoosePages(document); });
    const bool needed = !to_read_.empty() || ShowPages(ledger_.identity().formats);
    if (!document.error.empty() || !needed) return;
  }
  document.error = AttemptWith(FailureCode::kInternal, [&] {
    document.reader = open_(document.input.path);
    document.num_pages = document.reader->num_pages();
    ChoosePages(document);
    const std::vector<std::string>& formats = ledger_.identity().formats;
    if (ShowPages(formats)) {
      document.path = document.input.path;
      document.shown = std::make_unique<KeptPictures>(formats, ledger_.temporary());
    }
  });
}

void BatchSource::ChoosePages(BatchDocument& document) {
  to_read_.clear();
  document.pages = SelectPages(options_.pages, document.num_pages);
  if (document.pages.empty()) {
    throw Error(ErrorKind::kInput, {},
                "has no page of the chosen range; it has " + std::to_string(document.num_pages),
                FailureCode::kNoSuchPage);
  }
  for (const int page : document.pages) {
    if (options_.force || !document.finished_pages->HasComplete(page)) to_read_.push_back(page);
  }
  AddPagesReadBefore(document);
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
