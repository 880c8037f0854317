// Removal of stored results: platen clean.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "model/support/folder.h"
#include "pipeline/known_documents.h"

namespace platen {

// Which results go: those for which all of this holds.
struct ResultsToClean {
  // Nothing was added to them since. None: at any time.
  std::optional<std::chrono::system_clock::time_point> before = {};
  std::function<bool(const std::string& key)> wanted = {};  // empty: all
  // Bytes that results may need. Those that were added to longest ago go first, until they need no
  // more. Negative: all go.
  int64_t at_most = -1;
};

struct CleanedResults {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t kept_files = 0;
  int64_t kept_bytes = 0;
};

// `results` is OUT/.platen/results; the caller holds the lock of the output folder (Ledger).
// `dry_run`: only counts. Nothing else goes: a file that has no name of ours stays. Throws
// Error(kEnvironment).
CleanedResults CleanResults(const Folder& results, const ResultsToClean& choice,
                            bool dry_run = false);

// Keys of results that outputs were made from once, and that no document's outputs are made from
// now: its content is another, or it was read with another model or other options. `common` is
// OUT/.platen, `known` has all of it. Results of documents that are not finished are none of them.
std::set<std::string> SupersededResults(const Folder& common, const KnownDocuments& known);

}  // namespace platen
