// Outputs from stored results: nothing is read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pipeline/ledger.h"
#include "stages/formats/render_options.h"

namespace platen {

struct ExportReport {
  int64_t documents = 0;  // exported
  int64_t pages = 0;
  int64_t files = 0;
  int64_t bytes = 0;
  // Names of documents that were not exported: their results are not stored (removed, damaged, of
  // an earlier version), or were never there because the document could not be opened.
  std::vector<std::string> without_results;
};

// Writes every document of the ledger in the formats of its identity, with the pages that are in
// its outputs now, failed ones too. `interrupted` true: the rest is left as it is. Throws as
// WriteDocument and Ledger do.
ExportReport ExportDocuments(Ledger& ledger, const RenderOptions& render,
                             const std::function<bool()>& interrupted);

}  // namespace platen
