// OUT/.platen/results: what has been recognised, by content. Every output is made from it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "model/support/folder.h"
#include "pipeline/page_file.h"

namespace platen {

// Results stand in folders named by the first digits of their keys.
inline constexpr size_t kResultFolderDigits = 2;

// Files are spread over 256 folders by the start of their key. Nothing in it is trusted: see
// PageFile. Its users hold the lock of the output folder (Ledger).
//
// With `parts` several processes may use it at once: none writes to a file that others can see.
// A file of results is begun there, as a copy of what is stored, and takes its name when its
// document is finished, unless a longer one has it by then: two that read one content at once store
// the same pages.
class ResultStore {
 public:
  // `folder` is OUT/.platen/results; `parts` belongs to this process alone.
  explicit ResultStore(Folder folder, std::shared_ptr<const Folder> parts = nullptr)
      : folder_(std::move(folder)), parts_(std::move(parts)) {}

  // The pages stored under a key, 32 hexadecimal digits. Throws Error(kEnvironment).
  std::unique_ptr<PageFile> Open(const std::string& key) const;

  // Gives what was begun in `parts`, by a run that has ended, its name. Several processes may do so
  // at once.
  void PublishAll(const Folder& parts) const;

 private:
  Folder folder_;
  std::shared_ptr<const Folder> parts_;
};

}  // namespace platen
