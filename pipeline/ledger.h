// What has been done below an output folder: OUT/.platen/.
//
//   lock          held by the one run that writes here
//   ledger.jsonl  one JSON object per line, only ever appended to: runs, pages, documents
//   pages/        finished pages of documents that are not read as a whole (page_file.h)
//   tmp/          files on their way to their names; emptied at every start
//
// A document is finished when its record stands in the ledger and its outputs have the recorded
// sizes. The record is written after the outputs are on disk, so a crash in between repeats the
// writing, never the reading. A document with failed pages has a record too, but is tried again.
//
// None of this is trusted: nothing is opened, written or removed through a symbolic link, and a
// line that is no record says nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/page_file.h"
#include "stages/inputs/discover.h"
#include "stages/write_outputs.h"

namespace platen {

// What makes two runs' results of a document the same.
struct ResultIdentity {
  std::string fingerprint;  // of the model, the version and every option that changes results
  std::vector<std::string> formats;  // outputs that must be there
  std::string rendering = {};        // how they show what was read; empty: as usual
};

// What was written of a document.
struct DocumentRecord {
  std::vector<PageRange> pages;                 // that are in its outputs, ascending and apart
  int num_pages = 0;                            // in the outputs
  int of_pages = 0;                             // in the document
  int failed = 0;                               // of the pages in the outputs
  std::map<std::string, int64_t> output_bytes;  // by format
  std::string rendering;                        // of the outputs

  bool whole() const { return failed == 0 && num_pages == of_pages; }
};

// One process, one thread at a time for the writing members; those that ask may be called from
// another thread meanwhile (they touch nothing that writing changes).
class Ledger {
 public:
  // Creates OUT/.platen, takes the lock, reads what earlier runs left and removes what they left
  // over. Throws Error(kEnvironment), also if another run holds the lock.
  Ledger(const std::string& output_dir, ResultIdentity identity);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Names this version of this document: the path of its outputs, its size and modification time,
  // and the fingerprint. Throws Error(kInput) if the file is not there.
  std::string KeyOf(const InputDocument& input) const { return KeyOf(input, input.output); }
  std::string KeyOf(const InputDocument& input, const std::string& output) const;

  // As of the start of the run; nullptr if there is none.
  const DocumentRecord* Find(const std::string& key) const;

  // All chosen pages read (all of the document if `chosen` is empty), and all outputs there as they
  // were written and as this run would show them.
  bool IsFinished(const std::string& key, const InputDocument& input,
                  const std::vector<PageRange>& chosen) const;

  // Outputs of the document are there, and nothing says that they are incomplete: they are the
  // success of an earlier run, even if of another version of the document or before the ledger was
  // lost.
  bool HoldsSuccess(const std::string& key, const InputDocument& input) const;

  // The document's finished pages.
  std::unique_ptr<PageFile> OpenPages(const std::string& key) const;

  void RecordRun(const std::string& version, const std::string& model_id);
  void RecordPage(const std::string& key, const InputDocument& input, const PageResult& page);
  // `pages`, ascending, are in the `outputs` (one per format), `failed` of them as failures; the
  // document has `of_pages`. Synced to disk before it returns.
  void RecordDocument(const std::string& key, const InputDocument& input,
                      const std::vector<int>& pages, int of_pages, int failed,
                      const std::vector<WrittenFile>& outputs);

  const Folder& root() const { return root_; }            // the output folder
  const Folder& temporary() const { return temporary_; }  // for files on their way there
  const ResultIdentity& identity() const { return identity_; }
  // Lines that look like a document's record and are none.
  int64_t damaged_records() const { return damaged_records_; }

 private:
  void TakeLock();
  void EmptyTemporaryFolder() const;
  void Load();
  void LoadLine(const std::string& line);
  void SweepPages() const;
  void OpenForAppending();
  void AppendLine(const std::string& line);
  bool HasOutput(const InputDocument& input, const std::string& format, int64_t bytes) const;

  ResultIdentity identity_;
  Folder root_;
  Folder state_;
  Folder pages_;
  Folder temporary_;
  UniqueFd lock_;
  UniqueFd ledger_;
  // As of the start.
  std::map<std::string, DocumentRecord> documents_;  // by key
  std::map<std::string, bool> complete_by_output_;  // by DisplayName of the output: its last record
  int64_t damaged_records_ = 0;
};

// "1-3,7": pages given ascending, each once. The inverse of ParsePageRanges.
std::string FormatPageRanges(const std::vector<int>& pages);

}  // namespace platen
