// The work list: documents are opened one after another and give their pages as jobs.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/ledger.h"
#include "pipeline/messages.h"
#include "pipeline/progress.h"

namespace platen {

struct SourceOptions {
  std::vector<PageRange> pages;  // chosen; empty: all
  bool force = false;            // read the chosen pages anew
  ReadOptions read = {};         // of all documents
};

// Used by one thread at a time: the graph's source is serial.
class BatchSource {
 public:
  using OpenReader = std::function<std::unique_ptr<DocumentReader>(const std::string& path)>;

  // Everything passed by reference outlives the source. `interrupted` true: no further jobs.
  BatchSource(std::vector<InputDocument> documents, SourceOptions options, const Ledger& ledger,
             OpenReader open, std::function<bool()> interrupted, ProgressCounters& counters);

  // The next page to read, or nothing when all are given or the run was interrupted. Skips what
  // earlier runs have finished. A document that cannot be opened is a job with its error. Throws
  // Error(kEnvironment) when the disk of the ledger refuses.
  std::optional<PageJob> Next();

 private:
  std::optional<PageJob> NextPage();
  bool OpenNextDocument();  // false: the document is finished, or there is none
  void Open(OpenDocument& document);
  static void AddPagesReadBefore(OpenDocument& document);

  std::vector<InputDocument> documents_;
  SourceOptions options_;
  const Ledger& ledger_;
  OpenReader open_;
  std::function<bool()> interrupted_;
  ProgressCounters& counters_;

  size_t next_document_ = 0;
  std::shared_ptr<OpenDocument> current_;
  std::vector<int> to_read_;  // pages of `current_` that must be read
  size_t next_to_read_ = 0;
  uint64_t next_sequence_ = 0;
};

}  // namespace platen
