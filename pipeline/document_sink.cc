#include "pipeline/document_sink.h"

#include "model/support/error.h"

namespace platen {
namespace {

// Why a page is not complete.
std::string FailureOf(const PageResult& page) {
  if (!page.error.empty()) return page.error;
  for (const RegionResult& region : page.regions) {
    for (const LineResult& line : region.lines) {
      if (!line.error.empty()) return region.error + ": " + line.error;
    }
    if (!region.error.empty()) return region.error;
  }
  return "";
}

}  // namespace

DocumentSink::DocumentSink(SinkOptions options, Ledger& ledger, ProgressCounters& counters,
                           Telemetry& telemetry)
    : options_(std::move(options)), ledger_(ledger), counters_(counters), telemetry_(telemetry) {}

void DocumentSink::Write(PageSlot& page) {
  OpenDocument& document = *page.job.document;
  const StageSpan span(telemetry_, Stage::kWrite, -1,
                       DisplayName(document.input.path) + " p" + std::to_string(page.job.page));
  if (page.job.page > 0) KeepPage(document, page.result);
  if (page.job.last_of_document) FinishDocument(document);
  counters_.Report();
}

void DocumentSink::KeepPage(OpenDocument& document, const PageResult& page) {
  // In this order: after a kill between the two the page is read and recorded again. In the other
  // it would be taken from its file, and the ledger would have no record of it.
  ledger_.RecordPage(document.key, document.input, page);
  document.finished_pages->Append(page);
  counters_.Add(&Progress::pages_done, 1);
  CountPage(page);
  if (IsComplete(page)) return;
  counters_.Add(&Progress::pages_failed, 1);
  AddFailure(document, page.page, FailureOf(page));
}

void DocumentSink::CountPage(const PageResult& page) {
  for (const RegionResult& region : page.regions) {
    counters_.Add(&Progress::regions, 1);
    if (!region.error.empty()) counters_.Add(&Progress::regions_failed, 1);
    for (const LineResult& line : region.lines) {
      if (line.confidence.tokens == 0) continue;
      counters_.Add(&Progress::lines, 1);
      if (line.confidence.mean < options_.low_confidence) {
        counters_.Add(&Progress::low_confidence_lines, 1);
      }
    }
  }
}

void DocumentSink::FinishDocument(OpenDocument& document) {
  if (!document.error.empty()) {  // never opened: one failed page that stands for all
    counters_.Add(&Progress::pages_done, 1);
    counters_.Add(&Progress::pages_failed, 1);
    AddFailure(document, 0, document.error);
  }
  int failed = 0;
  try {
    failed = WriteOutputs(document);
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kEnvironment) throw;
    failed = 1;
    AddFailure(document, 0, e.reason());
  }
  counters_.Add(&Progress::documents_done, 1);
  if (failed > 0) counters_.Add(&Progress::documents_failed, 1);
}

int DocumentSink::WriteOutputs(OpenDocument& document) {
  int failed = 0;
  DocumentPages pages{static_cast<int>(document.pages.size()), [&](int index) {
                        return document.finished_pages->Read(
                            document.pages[static_cast<size_t>(index)]);
                      }};
  if (!document.error.empty()) {
    failed = 1;
    PageResult page;
    page.error = document.error;
    pages = {1, [page](int) { return page; }};
  } else {
    for (const int page : document.pages) failed += !document.finished_pages->HasComplete(page);
  }
  const auto outputs =
      WriteDocument(ledger_.output_dir() + "/" + document.input.output, ledger_.identity().formats,
                    {DisplayName(document.input.output), options_.settings}, pages,
                    ledger_.temporary_dir());
  if (document.key.empty()) return failed;  // the file is not there: nothing to record
  ledger_.RecordDocument(document.key, document.input, pages.count, failed, outputs);
  // Failed pages are tried again by the next run, and the others taken from here.
  if (failed == 0) document.finished_pages->Remove();
  return failed;
}

void DocumentSink::AddFailure(const OpenDocument& document, int page, const std::string& error) {
  if (failures_.size() == kMaxFailures) {
    ++failures_not_listed_;
    return;
  }
  failures_.push_back({DisplayName(document.input.path), page, error});
}

}  // namespace platen
