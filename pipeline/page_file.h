// The pages of one content as one model has read them: what no run need read again, and what every
// output is made from.
//
// A file of records: what the pages have in common, then a page each. A record is compressed and
// carries its checksum; one that a crash cut short, or anything else that does not carry its
// checksum or is no page, ends the file as if it had never been written. Pages may stand in any
// order and repeat; the last one counts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/support/folder.h"
#include "stages/formats/page_result.h"

namespace platen {

// True if nothing of the page is missing: it has no error and none of its regions has.
bool IsComplete(const PageResult& page);

// A stored page is at most so long, uncompressed: a broadsheet page of 15,000 words takes 4 MB.
// Parsing what is longer could take gigabytes.
inline constexpr size_t kMostStoredPageBytes = size_t{32} << 20;

// Whether Append may be given the page.
bool CanBeStored(const PageResult& page);

// What all pages of a file have in common.
struct PageFileHead {
  std::vector<DocumentSetting> settings;  // they were read with
  int of_pages = 0;                       // of the document
};

// Gives a file of pages in `parts` its name in `folder`, unless a file that is no shorter has it:
// that one goes on as it is, and the part is removed. False if so, or if another process has done
// it. Throws Error.
bool PublishPart(const Folder& parts, const std::string& name, const Folder& folder);

// Used by one thread at a time. All members throw Error(kEnvironment) when the disk refuses.
class PageFile {
 public:
  // Reads what is there. A file that does not exist, or whose head is damaged, is empty and is made
  // anew by the first Append. With `parts` the file itself is never written to: the first Append
  // begins a copy of that name in `parts`, and Publish puts it in the file's place.
  PageFile(Folder folder, std::string name, std::shared_ptr<const Folder> parts = nullptr);
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;

  // Nothing if the file is empty.
  const std::optional<PageFileHead>& head() const { return head_; }

  // Stored and complete: needs no reading again.
  bool HasComplete(int page) const;
  bool Has(int page) const { return entries_.contains(page); }
  std::vector<int> CompletePages() const;  // ascending

  // CanBeStored(page). `head` is written if the file is empty. Other names of the file (hard links)
  // keep what it had.
  void Append(const PageFileHead& head, const PageResult& page);
  PageResult Read(int page) const;  // Has(page)

  // No Append follows. Puts what was appended in the file's place. True if the file is that of this
  // process: it may be compacted.
  bool Publish();

  // Leaves out what later pages have replaced, if that is more than the rest.
  void Compact(const Folder& temporary);

 private:
  struct Entry {
    uint64_t offset = 0;  // of the record
    uint64_t bytes = 0;   // of the whole record
    bool complete = false;
  };

  void Load();
  void OpenForAppending();
  bool Take(std::string_view payload, uint64_t offset, uint64_t bytes);
  Entry AppendRecord(const std::string& json, bool complete);
  std::string ReadRecord(const Entry& entry) const;

  Folder folder_;
  std::string name_;
  std::shared_ptr<const Folder> parts_;
  bool is_part_ = false;  // `fd_` is that of the copy in `parts_`
  bool is_own_ = false;   // `fd_` has no other name
  UniqueFd fd_;
  uint64_t end_ = 0;  // of the valid records
  std::optional<PageFileHead> head_;
  Entry head_entry_;
  std::map<int, Entry> entries_;
};

}  // namespace platen
