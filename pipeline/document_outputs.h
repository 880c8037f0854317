// The outputs of documents, and their records.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/support/error.h"
#include "model/support/file_batch.h"
#include "pipeline/ledger.h"
#include "stages/formats/render_options.h"
#include "stages/kept_pictures.h"
#include "stages/readers/document_reader.h"

namespace platen {

struct OutputsOf {
  DocumentRecord record;  // input, name, source, output, of_pages and failed; the rest is filled in
  std::vector<int> pages;                 // ascending, that are in the outputs
  std::vector<DocumentSetting> settings;  // they were read with
  // For formats that show the pages; see PicturesOf.
  PageImages images = {};
  // A page of them. If there is none, page 0: what is wrong with the document.
  std::function<PageResult(int page)> page;
};

// Keeps what the outputs show of the pages, all of which are stored. On all threads of the pool, a
// page on each. `stopped`, called by several at once: true, the rest is left. Throws
// Error(kEnvironment).
void KeepPicturesOf(const DocumentReader& reader, const std::string& path,
                    const std::vector<int>& pages, const PageFile& stored, KeptPictures& kept,
                    const std::function<bool()>& stopped);

// What became of the outputs of a document.
struct OutputsWritten {
  std::vector<WrittenFile> files;
  std::optional<Error> failure;  // one of them could not be written; they are not recorded then
};

// Writes documents in every format of the ledger's identity and records them. A disk that syncs
// takes as long for the files of many documents as for those of one: where they come faster than it
// can sync, their outputs and records wait for each other, for a second at the most while documents
// come. Not thread-safe.
class OutputBatch {
 public:
  using Done = std::function<void(OutputsWritten)>;

  // Both outlive it.
  OutputBatch(Ledger& ledger, const RenderOptions& render);

  // Writes the outputs under temporary names. `done` is called when they have their own and are
  // recorded, or when one has not got it: by a Commit, in the order of the documents. Throws as
  // WriteDocument and Ledger do; `done` is not called then.
  void Add(OutputsOf document, Done done);

  // Commits if the oldest document has waited long enough.
  void CommitIfDue();

  // No document waits any more. Throws Error(kEnvironment).
  void Commit();

 private:
  struct Waiting {
    DocumentRecord record;
    std::vector<int> pages;
    std::vector<WrittenFile> files;
    size_t group = 0;
    Done done;
  };

  Ledger& ledger_;
  const RenderOptions& render_;
  FileBatch files_;
  std::vector<Waiting> documents_;
  int64_t last_end_ns_ = 0, last_took_ns_ = 0;  // of Commit
};

}  // namespace platen
