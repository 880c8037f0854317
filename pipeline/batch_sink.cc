#include "pipeline/batch_sink.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include "model/support/attempt.h"
#include "model/support/display_text.h"
#include "model/support/error.h"
#include "pipeline/memory_plan.h"
#include "stages/doubts.h"
#include "stages/inputs/input_names.h"
#include "stages/page_pictures.h"

namespace platen {
namespace {

// "22 of 24 lines could not be read: REASON", over all regions of the page.
std::string LostParts(const PageResult& page) {
  int lines = 0, lines_lost = 0, regions_lost = 0;
  std::string reason, region_reason;
  for (const RegionResult& region : page.regions) {
    lines += static_cast<int>(region.lines.size());
    if (region.error.empty()) continue;
    ++regions_lost;
    if (region_reason.empty()) region_reason = region.error;
    for (const LineResult& line : region.lines) {
      if (line.error.empty()) continue;
      ++lines_lost;
      if (reason.empty()) reason = line.error;
    }
  }
  const auto lost = [](int count, int all, const char* parts, const std::string& why) {
    return std::to_string(count) + " of " + std::to_string(all) + " " + parts +
           " could not be read: " + why;
  };
  if (lines_lost > 0) return lost(lines_lost, lines, "lines", reason);
  if (regions_lost == 0) return "";
  if (page.regions.size() == 1) return region_reason;
  return lost(regions_lost, static_cast<int>(page.regions.size()), "regions", region_reason);
}

// Bytes that a URL cannot have are written as "%20".
std::string UrlOf(const std::string& path) {
  constexpr std::string_view kPlain = "-._~/", kDigits = "0123456789ABCDEF";
  std::string url;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) != 0 || kPlain.find(c) != std::string_view::npos)) {
      url += c;
    } else {
      url += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return url;
}

constexpr char kKeptEarlier[] = "; the outputs of an earlier run were kept";

// Why a page is not complete.
std::string FailureOf(const PageResult& page) {
  return page.error.empty() ? LostParts(page) : page.error;
}

// Takes more memory than a slot is counted for, or does not say how much.
bool IsLarge(const DocumentReader& reader, int page) {
  bool is_small = false;
  Attempt([&] {
    const ImageSize size = reader.PageSize(page - 1);
    is_small = size.width * size.height <= kPixelsOfASlot;
  });
  return !is_small;
}

// What stands in the outputs of a document that could not be opened.
PageResult PageOfFailure(const std::string& error) {
  PageResult page;
  page.error = error;
  return page;
}

// It fails, for what is not stored has no outputs.
void RefuseWhatCannotBeStored(PageSlot& slot) {
  if (CanBeStored(slot.result)) return;
  PageResult failed;
  failed.page = slot.result.page;
  failed.width = slot.result.width, failed.height = slot.result.height;
  failed.error = "its text and the places of its words take more than " +
                 std::to_string(kMostStoredPageBytes >> 20) + " MiB";
  slot.result = std::move(failed);
  slot.pictures.clear();
  slot.failure_code = FailureCode::kTooLarge;
}

}  // namespace

BatchSink::BatchSink(SinkOptions options, Ledger& ledger, KeysInFlight& keys,
                     ProgressCounters& counters, Telemetry& telemetry, SinkObservers observers)
    : options_(std::move(options)),
      ledger_(ledger),
      keys_(keys),
      counters_(counters),
      telemetry_(telemetry),
      observers_(std::move(observers)),
      failures_(ledger.reports(), ledger.temporary()),
      outputs_(ledger, options_.render) {}

void BatchSink::Prepare(PageSlot& page) {
  const auto& document = static_cast<const BatchDocument&>(*page.job.document);
  if (page.job.page > 0 || !document.shown || !document.error.empty()) return;
  const StageSpan span(telemetry_, Stage::kAssemble, page.index, DisplayName(document.name));
  for (const int stored : document.pages) {
    std::unique_lock one_at_a_time(large_page_, std::defer_lock);
    if (IsLarge(*document.reader, stored)) one_at_a_time.lock();
    KeepPictures(*document.reader, document.path, document.finished_pages->Read(stored), nullptr,
                 *document.shown);
  }
}

void BatchSink::Write(PageSlot& page) {
  const auto shared = std::static_pointer_cast<BatchDocument>(page.job.document);
  BatchDocument& document = *shared;
  const StageSpan span(telemetry_, Stage::kWrite, -1,
                       DisplayName(document.name) + " p" + std::to_string(page.job.page));
  if (page.job.page > 0) {
    RefuseWhatCannotBeStored(page);
    WritePictures(document, page);
    KeepPage(document, page);
    if (observers_.decoding) observers_.decoding(document.input, page);
  }
  if (page.job.last_of_document) FinishDocument(shared);
  outputs_.CommitIfDue();
  counters_.Report();
}

void BatchSink::Finish() {
  outputs_.Commit();
  failures_.Commit();
}

// Before the page counts as finished: what names a picture can show it. One that cannot have its
// name leaves an error at its region.
void BatchSink::WritePictures(const BatchDocument& document, PageSlot& page) const {
  if (page.pictures.empty()) return;
  const std::string folder = options_.images + "/" + document.input.output;
  std::string failure;
  try {
    const auto to =
        std::make_shared<const Folder>(ledger_.root().Below(folder, Folder::Missing::kCreate));
    FileBatch files;
    const size_t group = files.BeginGroup();
    for (const Picture& picture : page.pictures) {
      AtomicFile file(ledger_.temporary(), files.NextTemporaryName("picture"), *to,
                      page.geometry.images.at(picture.region));
      file.Append(picture.png);
      files.Add(std::move(file), to);
    }
    files.Commit();
    if (const auto error = files.TakeFailure(group)) throw *error;
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::kEnvironment) throw;
    failure = e.what();
  }
  for (RegionResult& region : page.result.regions) {
    if (region.image.empty()) continue;
    region.image = failure.empty() ? UrlOf(folder + "/" + region.image) : "";
    if (!failure.empty()) region.error = "its picture cannot be written: " + failure;
  }
}

void BatchSink::KeepPage(BatchDocument& document, const PageSlot& slot) {
  const PageResult& page = slot.result;
  // In this order: after a kill between the two the page is read and recorded again. In the other
  // it would be taken from the store, and the ledger would have no record of it.
  ledger_.RecordPage(document.known.key, document.input.shown_name(), page);
  document.finished_pages->Append(
      {ledger_.identity().of(document.known.content.kind).settings, document.num_pages}, page);
  CountPage(page);
  if (observers_.page) observers_.page(document.input, page, document.num_pages);
  if (!IsComplete(page)) AddFailure(document, page.page, {FailureOf(page), slot.failure_code});
}

void BatchSink::CountPage(const PageResult& page) {
  counters_.Add(IsComplete(page) ? &Progress::pages_read : &Progress::pages_failed, 1);
  if (HasTextLayer(page)) counters_.Add(&Progress::pages_from_text_layer, 1);
  if (!page.doubts.empty()) counters_.Add(&Progress::pages_doubtful, 1);
  for (const RegionResult& region : page.regions) {
    counters_.Add(&Progress::regions, 1);
    if (!region.error.empty()) counters_.Add(&Progress::regions_failed, 1);
    for (const LineResult& line : region.lines) {
      if (line.confidence.tokens == 0) continue;
      counters_.Add(&Progress::lines, 1);
      if (line.confidence.mean < kLowLineConfidence) {
        counters_.Add(&Progress::low_confidence_lines, 1);
      }
    }
  }
}

void BatchSink::FinishDocument(const std::shared_ptr<BatchDocument>& document) {
  FinishedDocument finished{document->input, document->pages, 0, {}, false};
  if (document->error.empty()) {
    for (const int page : document->pages) {
      finished.failed += !document->finished_pages->HasComplete(page);
    }
  } else {
    finished.pages.clear();
    finished.failed = 1;
  }
  finished.kept_earlier = finished.failed > 0 && WouldLosePages(*document);
  if (!document->error.empty()) {
    AddFailure(
        *document, 0,
        {document->error.text + (finished.kept_earlier ? kKeptEarlier : ""), document->error.code});
  }
  std::optional<Error> failure;
  if (!finished.kept_earlier && HasOutputs(*document)) {
    try {
      outputs_.Add(OutputsOfDocument(*document, finished),
                   [this, document, finished](OutputsWritten written) {
                     Report(*document, finished, std::move(written));
                   });
      CloseResults(*document);
      return;
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::kEnvironment) throw;
      failure = e;
    }
  }
  Report(*document, std::move(finished), {{}, failure});
  CloseResults(*document);
}

void BatchSink::Report(const BatchDocument& document, FinishedDocument finished,
                       OutputsWritten written) {
  finished.outputs = std::move(written.files);
  if (written.failure) {
    AddFailure(document, 0, {written.failure->reason(), FailureCode::kOutput});
    finished.failed = std::max(finished.failed, 1);
    finished.outputs.clear();
  }
  counters_.Add(finished.failed > 0 ? &Progress::documents_failed : &Progress::documents_read, 1);
  if (observers_.document) observers_.document(finished);
}

// Nothing reads the document or its stored pages any more.
void BatchSink::CloseResults(BatchDocument& document) {
  document.reader.reset();
  document.shown.reset();
  if (!document.finished_pages) return;
  if (document.finished_pages->Publish()) document.finished_pages->Compact(ledger_.temporary());
  document.finished_pages.reset();
  keys_.Release(document.known.key);
}

// The outputs of an earlier run have pages that these would not have. (Not so if that run read
// fewer pages of the same document, and they are all here.)
bool BatchSink::WouldLosePages(const BatchDocument& document) const {
  if (!ledger_.HoldsSuccess(document.input)) return false;
  const DocumentRecord* record = ledger_.Find(document.input.output);
  const bool same = record != nullptr && record->input.key == document.known.key;
  if (!same || !document.error.empty()) return true;
  const std::vector<int> held = SelectPages(record->pages, record->of_pages);
  return !std::all_of(held.begin(), held.end(),
                      [&](int page) { return document.finished_pages->HasComplete(page); });
}

// Not there, or of no format that is read: there is nothing that outputs could be of.
bool BatchSink::HasOutputs(const BatchDocument& document) const {
  return document.input.error.empty() && !document.known.key.empty();
}

OutputsOf BatchSink::OutputsOfDocument(BatchDocument& document,
                                       const FinishedDocument& finished) const {
  OutputsOf outputs;
  outputs.record.input = document.known;
  outputs.record.name = document.input.shown_name();
  outputs.record.source = document.input.path;
  outputs.record.output = document.input.output;
  outputs.record.of_pages = document.num_pages;
  outputs.record.failed = finished.failed;
  outputs.pages = finished.pages;
  outputs.settings = ledger_.identity().of(document.known.content.kind).settings;
  outputs.images =
      PicturesOf(document.reader.get(), document.input.path, kLongestSide, document.shown.get());
  outputs.page = [&document](int page) {
    return page == 0 ? PageOfFailure(document.error.text) : document.finished_pages->Read(page);
  };
  return outputs;
}

void BatchSink::AddFailure(const BatchDocument& document, int page, const Fault& why) {
  const Failure failure{DisplayName(document.input.shown_name()),
                        AbsolutePath(document.input.path),
                        document.input.output,
                        page,
                        document.num_pages,
                        why};
  failures_.Add(failure);
  counters_.Add(&Progress::failures, 1);
  if (observers_.failure) observers_.failure(failure);
}

}  // namespace platen
