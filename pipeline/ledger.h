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
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/ledger_record.h"
#include "pipeline/page_file.h"
#include "pipeline/result_store.h"
#include "pipeline/run_lock.h"
#include "pipeline/shard.h"
#include "stages/inputs/discover.h"
#include "stages/write_outputs.h"

namespace platen {

// How inputs of one kind are recognised: their results are the same where this is.
struct Recognition {
  std::string fingerprint;  // of the model, the version and every option that changes results
  std::vector<DocumentSetting> settings = {};  // the same for people, at the head of outputs
};

struct ResultIdentity {
  Recognition images, pdfs;
  std::vector<std::string> formats;  // outputs that must be there
  std::string rendering = {};        // how they show what was read; empty: as usual
  // Results name files of the output folder (pictures): they belong to one document.
  bool names_outputs = false;
  bool verify_inputs = false;  // read inputs to know them, whatever the file system says

  const Recognition& of(InputKind kind) const { return kind == InputKind::kPdf ? pdfs : images; }
};

// One process, one thread at a time for the writing members; those that ask may be called from
// another thread meanwhile (they touch nothing that writing changes).
class Ledger {
 public:
  // Creates OUT/.platen, takes the lock, reads what earlier runs left and removes what they left
  // over. Documents that are not of the shard are unknown. Throws Error(kEnvironment), also if
  // another run holds the lock.
  Ledger(const std::string& output_dir, ResultIdentity identity, const Shard& shard = {});
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Reads the file, unless the record of its outputs knows it as the file system shows it. Throws
  // Error(kInput) if it is not there or cannot be read.
  KnownInput Know(const InputDocument& input) const;

  // What was last written to the outputs of this path, as of the start of the run; nullptr if
  // nothing was.
  const DocumentRecord* Find(const std::string& output) const;

  // All of them, by the path of their outputs.
  void ForEach(const std::function<void(const DocumentRecord&)>& visit) const;

  // All chosen pages read (all of the document if `chosen` is empty), and all outputs there as they
  // were written and as this run would show them.
  bool IsFinished(const KnownInput& known, const InputDocument& input,
                  const std::vector<PageRange>& chosen) const;

  // Outputs of the document are there, and nothing says that they are incomplete: they are the
  // success of an earlier run, even if of another version of the document or before the ledger was
  // lost.
  bool HoldsSuccess(const InputDocument& input) const;

  const ResultStore& results() const { return results_; }

  void RecordRun(const std::string& version, const std::string& model_id);
  void RecordEnd(const RunEnd& end);
  void RecordPage(const std::string& key, const std::string& name, const PageResult& page);
  // Removes the files of single pages that earlier runs have recorded for the outputs of this path,
  // in formats of this run, and that are none of `written`.
  void RemoveStalePages(const std::string& output, const std::vector<WrittenFile>& written) const;
  // As of now: `record.num_pages` is not looked at. Outputs of the same pages and rendering that an
  // earlier record lists stay listed. Synced to disk before it returns.
  void RecordDocument(DocumentRecord record, const std::vector<int>& pages);

  const Folder& root() const { return root_; }            // the output folder
  const Folder& temporary() const { return temporary_; }  // for files on their way there
  // For run.json and failures.jsonl: the output folder, or that of the shard.
  const Folder& reports() const { return shard_.is_all() ? root_ : state_; }
  const ResultIdentity& identity() const { return identity_; }
  // Lines that look like a document's record and are none.
  int64_t damaged_records() const { return damaged_records_; }

 private:
  void TakeLeftovers(const Folder& shard) const;
  void Load(const Folder& folder);
  void LoadRecord(DocumentRecord record);
  void OpenForAppending();
  void AppendLine(const std::string& line);
  bool HasOutput(const std::string& output, const std::string& suffix, int64_t bytes) const;
  bool HasOutputs(const DocumentRecord& record, const std::string& format) const;

  ResultIdentity identity_;
  Shard shard_;
  Folder root_;
  Folder common_;  // OUT/.platen
  Folder state_;   // the same, or the shard's
  Folder temporary_;
  ResultStore results_;
  std::unique_ptr<RunLock> lock_;
  UniqueFd ledger_;
  int64_t run_ = 1;  // number of this run
  // As of the start.
  std::map<std::string, DocumentRecord> documents_;  // by path of the outputs: its last record
  std::map<std::string, std::set<std::string>> page_files_;  // likewise: suffixes, of all records
  int64_t damaged_records_ = 0;
};

}  // namespace platen
