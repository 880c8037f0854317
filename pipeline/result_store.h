// OUT/.platen/results: what has been recognised, by content. Every output is made from it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "model/support/folder.h"
#include "pipeline/page_file.h"

namespace platen {

// What Clean has removed.
struct CleanedResults {
  int64_t files = 0;
  int64_t bytes = 0;
  int64_t kept_files = 0;
  int64_t kept_bytes = 0;
};

// Files are spread over 256 folders by the start of their key. Nothing in it is trusted: see
// PageFile. Its users hold the lock of the output folder (Ledger).
class ResultStore {
 public:
  // `folder` is OUT/.platen/results.
  explicit ResultStore(Folder folder) : folder_(std::move(folder)) {}

  // The pages stored under a key, 32 hexadecimal digits. Throws Error(kEnvironment).
  std::unique_ptr<PageFile> Open(const std::string& key) const;

  // Removes what was last added to before that time; `dry_run`: only counts it. Nothing else goes:
  // a file that has no name of ours stays.
  CleanedResults Clean(std::chrono::system_clock::time_point before, bool dry_run = false) const;

 private:
  Folder folder_;
};

}  // namespace platen
