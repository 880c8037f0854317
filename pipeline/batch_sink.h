// The sink of a batch: pages arrive in order, are kept, and become the outputs of their document
// when its last page is there.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/batch_source.h"
#include "pipeline/document_outputs.h"
#include "pipeline/failure_log.h"
#include "pipeline/ledger.h"
#include "pipeline/progress.h"
#include "pipeline/telemetry.h"

namespace platen {

// A document that has come to its end in this run.
struct FinishedDocument {
  const InputDocument& input;
  std::vector<int> pages;            // in its outputs
  int failed = 0;                    // pages; 1 if the document as a whole
  std::vector<WrittenFile> outputs;  // empty: none were written
  bool kept_earlier = false;  // something failed, and complete outputs of an earlier run stay
};

// Who wants to know, besides the report. Each may be empty; called by one thread at a time, in the
// order of the documents.
struct SinkObservers {
  std::function<void(const Failure&)> failure;
  std::function<void(const InputDocument&, const PageResult&, int of_pages)> page;
  std::function<void(const InputDocument&, const PageSlot&)> decoding;
  std::function<void(const FinishedDocument&)> document;
};

struct SinkOptions {
  RenderOptions render;
  std::string images;  // folder of pictures, below the output folder; empty: none are written
};

// For the pages of a BatchSource.
class BatchSink : public PageSink {
 public:
  BatchSink(SinkOptions options, Ledger& ledger, KeysInFlight& keys, ProgressCounters& counters,
            Telemetry& telemetry, SinkObservers observers);

  // Of a document whose pages are all stored: their pictures, if outputs show them.
  void Prepare(PageSlot& page) override;

  // Keeps the slot's result; with the last page of a document writes its outputs. A failure never
  // takes the place of an earlier success: outputs of an earlier run that are complete stay, if
  // what would replace them is not. Throws Error(kEnvironment) when the disk refuses: the run ends
  // and can be resumed.
  void Write(PageSlot& page) override;

  // Completes the outputs that wait, and OUT/failures.jsonl. No page follows. Throws as Write does.
  void Finish();

  const FailureLog& failures() const { return failures_; }

 private:
  void WritePictures(const BatchDocument& document, PageSlot& page) const;
  void KeepPage(BatchDocument& document, const PageSlot& slot);
  void FinishDocument(const std::shared_ptr<BatchDocument>& document);
  bool WouldLosePages(const BatchDocument& document) const;
  bool HasOutputs(const BatchDocument& document) const;
  OutputsOf OutputsOfDocument(BatchDocument& document, const FinishedDocument& finished) const;
  void CloseResults(BatchDocument& document);
  void Report(const BatchDocument& document, FinishedDocument finished, OutputsWritten written);
  void AddFailure(const BatchDocument& document, int page, const Fault& why);
  void CountPage(const PageResult& page);

  SinkOptions options_;
  Ledger& ledger_;
  KeysInFlight& keys_;
  ProgressCounters& counters_;
  Telemetry& telemetry_;
  SinkObservers observers_;
  FailureLog failures_;
  std::mutex large_page_;  // in Prepare
  OutputBatch outputs_;
};

}  // namespace platen
