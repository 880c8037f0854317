// Outputs from stored results: nothing is read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/ledger.h"
#include "pipeline/unchanged_document.h"
#include "stages/formats/render_options.h"

namespace platen {

struct NotExported {
  std::string name;
  std::string reason;
};

struct ExportReport {
  int64_t documents = 0;  // exported
  int64_t pages = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  std::vector<NotExported> not_exported;
  std::vector<std::pair<std::string, std::string>> notes;  // of files: path, WrittenFile::note
};

struct ExportTools {
  OpenAsItWasRead open;
  // True: the rest is left as it is. Called by several threads at once, as `open` is.
  std::function<bool()> interrupted;
};

// Writes every document of the ledger in the formats of its identity, with the pages that are in
// its outputs now, failed ones too. Formats that show the pages need the document, unchanged, where
// it was; their pages are decoded on all threads of the pool, each with a page in full size. Throws
// as WriteDocument and Ledger do, and Error(kUsage) where an output would replace a scan.
ExportReport ExportDocuments(Ledger& ledger, const RenderOptions& render, const ExportTools& tools);

}  // namespace platen
