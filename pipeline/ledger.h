// What has been done below an output folder: OUT/.platen/.
//
//   lock          held by the one run that writes here, or shared by those of shards (run_lock.h)
//   ledger.jsonl  one JSON object per line, only ever appended to: runs, pages, documents
//   results/      what has been recognised, by content (result_store.h)
//   tmp/          files on their way to their names; emptied at every start
//   shards/2-of-4/  of the runs of a shard: lock, ledger.jsonl and tmp/ of its own, and
//     parts/      results of documents that it has begun (page_file.h)
//     run.json, failures.jsonl: its reports
//
// A document is finished when its record stands in a ledger and its outputs have the recorded
// sizes. The record is written after the outputs are on disk, so a crash in between repeats the
// writing, never the reading. A document with failed pages has a record too, but is tried again.
// Outputs that are missing, or of another kind, are made from the results without reading.
//
// A run reads all ledgers that may have documents of its own and writes one. It takes over what
// runs of shards that do not run any more have begun, so the number of shards may change.
//
// None of this is trusted: nothing is opened, written or removed through a symbolic link, and a
// line that is no record says nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/known_documents.h"
#include "pipeline/page_file.h"
#include "pipeline/result_store.h"
#include "pipeline/run_lock.h"
#include "stages/write_outputs.h"

namespace platen {

// What is known as of the start of the run, and what it adds. One process, one thread at a time for
// the writing members; those that ask may be called from another thread meanwhile (they touch
// nothing that writing changes).
class Ledger : public KnownDocuments {
 public:
  // Creates OUT/.platen, takes the lock, reads what earlier runs left and removes what they left
  // over. Documents that are not of the shard are unknown. Throws Error(kEnvironment), also if
  // another run holds the lock.
  Ledger(const std::string& output_dir, ResultIdentity identity, const Shard& shard = {});
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  const ResultStore& results() const { return results_; }

  void RecordRun(const std::string& version, const std::string& model_id);
  void RecordEnd(const RunEnd& end);
  void RecordPage(const std::string& key, const std::string& name, const PageResult& page);
  // Removes the files of single pages that earlier runs have recorded for the outputs of this path,
  // in formats of this run, and that are none of `written`.
  void RemoveStalePages(const std::string& output, const std::vector<WrittenFile>& written) const;
  // As of now: `record.num_pages` is not looked at. Outputs of the same pages and rendering that an
  // earlier record lists stay listed.
  void RecordDocument(DocumentRecord record, const std::vector<int>& pages);
  // What documents have been recorded is on disk when it returns.
  void Sync();

  const Folder& common() const { return common_; }        // OUT/.platen
  const Folder& temporary() const { return temporary_; }  // for files on their way there
  // What only this run, or runs of its shard, write: OUT/.platen, or that of the shard.
  const Folder& state() const { return state_; }
  // For run.json and failures.jsonl: the output folder, or that of the shard.
  const Folder& reports() const { return shard().is_all() ? root() : state_; }

 private:
  void TakeLeftovers(const Folder& shard) const;
  void OpenForAppending();
  void SyncFolders() const;
  void AppendLine(const std::string& line);

  Folder common_;  // OUT/.platen
  Folder state_;   // the same, or the shard's
  Folder temporary_;
  ResultStore results_;
  std::unique_ptr<RunLock> lock_;
  UniqueFd ledger_;
  bool synced_ = true;  // all records of documents are
};

}  // namespace platen
