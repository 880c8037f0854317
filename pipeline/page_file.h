// Finished pages of a document that is not read as a whole, on disk: what a re-run need not read
// again.
//
// One line per page: a checksum and the page as JSON. A line that a crash cut short, or anything
// else that does not carry its checksum or is no page, ends the file as if it had never been
// written. Pages may stand in any order and repeat; the last one counts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "stages/formats/page_result.h"

namespace platen {

// True if nothing of the page is missing: it has no error and none of its regions has.
bool IsComplete(const PageResult& page);

// Owned by one document; used by one thread at a time. All members throw Error(kEnvironment) when
// the disk refuses.
class PageFile {
 public:
  // Reads what is there. A file that does not exist is empty and is created by the first Append.
  // `folder` outlives it.
  PageFile(const Folder& folder, std::string name);
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  // Stored and complete: needs no reading again.
  bool HasComplete(int page) const;
  bool Has(int page) const { return entries_.contains(page); }
  std::vector<int> CompletePages() const;  // ascending

  void Append(const PageResult& page);
  PageResult Read(int page) const;  // Has(page)

  // Removes the file.
  void Remove();

 private:
  struct Entry {
    uint64_t offset = 0;  // of the JSON
    uint64_t length = 0;
    bool complete = false;
  };

  void Load();

  const Folder& folder_;
  std::string name_;
  UniqueFd fd_;
  uint64_t end_ = 0;  // of the valid lines
  std::map<int, Entry> entries_;
};

}  // namespace platen
