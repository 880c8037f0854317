// The source of a batch: the documents of a list are opened one after another and give their pages.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/ends.h"
#include "pipeline/keys_in_flight.h"
#include "pipeline/ledger.h"
#include "pipeline/progress.h"

namespace platen {

struct SourceOptions {
  std::vector<PageRange> pages;         // chosen; empty: all
  bool force = false;                   // read the chosen pages anew
  ReadOptions read = {};                // of all documents
  TimeLimits limits = {};               // likewise
  double patience_s = kUsualPatienceS;  // with a read of a document (InputFile)
  int64_t max_pages = 0;                // to read in this run; 0: all
};

// A document of the list, with what the ledger and earlier runs say of it. `finished_pages` changes
// in the sink.
struct BatchDocument : OpenDocument {
  InputDocument input;
  KnownInput known;  // with a key: `finished_pages` are this document's until the sink releases it
  // That will be in the outputs, ascending, 1-based: those chosen, and those an earlier run has
  // read.
  std::vector<int> pages;
  std::unique_ptr<PageFile> finished_pages;
};

// All pages are one stream: outputs and reports come in the order of the list. But a document whose
// content is being read for another one comes when that is finished, and then last.
class BatchSource : public PageSource {
 public:
  using OpenReader = std::function<std::unique_ptr<DocumentReader>(const std::string& path)>;

  // Everything passed by reference outlives the source. `interrupted` true: no further jobs.
  BatchSource(DocumentList documents, SourceOptions options, const Ledger& ledger,
              KeysInFlight& keys, OpenReader open, std::function<bool()> interrupted,
              ProgressCounters& counters);

  // The next page to read; ends when all are given, when there are as many as the
  // run may read, or when it was interrupted. Skips what earlier
  // runs have finished. A document that cannot be opened is a page 0 with its error. Throws
  // Error(kEnvironment) when the disk of the ledger refuses.
  NextPage Next() override;
  // SourceOptions::max_pages kept a page from being read.
  bool reached_max_pages() const { return reached_max_pages_; }
  Doorbell* doorbell() override { return &keys_.released(); }

 private:
  NextPage PageOfCurrent();
  void OpenNextDocument();
  bool OpenPutOff();
  bool IsFinished(const BatchDocument& document) const;
  void Begin(std::shared_ptr<BatchDocument> document);
  void Open(BatchDocument& document);
  void ChoosePages(BatchDocument& document);
  static void AddPagesReadBefore(BatchDocument& document);

  DocumentList documents_;
  SourceOptions options_;
  const Ledger& ledger_;
  KeysInFlight& keys_;
  OpenReader open_;
  std::function<bool()> interrupted_;
  ProgressCounters& counters_;

  size_t next_document_ = 0;
  std::deque<std::shared_ptr<BatchDocument>> put_off_;  // their content is being read
  std::shared_ptr<BatchDocument> current_;
  std::vector<int> to_read_;  // pages of `current_` that must be read
  size_t next_to_read_ = 0;
  uint64_t next_place_ = 0;
  int64_t pages_given_ = 0;
  bool reached_max_pages_ = false;
};

}  // namespace platen
