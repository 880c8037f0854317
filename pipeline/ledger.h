// What has been done below an output folder: OUT/.platen/.
//
//   lock          held by the one run that writes here
//   ledger.jsonl  one JSON object per line, only ever appended to: runs, pages, documents
//   results/      what has been recognised, by content (result_store.h)
//   tmp/          files on their way to their names; emptied at every start
//
// A document is finished when its record stands in the ledger and its outputs have the recorded
// sizes. The record is written after the outputs are on disk, so a crash in between repeats the
// writing, never the reading. A document with failed pages has a record too, but is tried again.
// Outputs that are missing, or of another kind, are made from the results without reading.
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
#include "pipeline/document_content.h"
#include "pipeline/page_file.h"
#include "pipeline/result_store.h"
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

// An input, and the name of its results: of its content and its recognition.
struct KnownInput {
  FileStamp stamp;
  DocumentContent content;
  std::string key;
};

// What was written of a document.
struct DocumentRecord {
  KnownInput input;                             // without a key: of an earlier version
  std::string name;                             // of the input, for people
  std::string source;                           // the input's absolute path
  std::string output;                           // path of the outputs without their endings
  std::vector<PageRange> pages;                 // that are in its outputs, ascending and apart
  int num_pages = 0;                            // in the outputs
  int of_pages = 0;                             // in the document
  int failed = 0;                               // of the pages in the outputs
  std::map<std::string, int64_t> output_bytes;  // by suffix (see OutputSuffix)
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
  void RecordPage(const std::string& key, const std::string& name, const PageResult& page);
  // Removes the files of single pages that earlier runs have recorded for the outputs of this path,
  // in formats of this run, and that are none of `written`.
  void RemoveStalePages(const std::string& output, const std::vector<WrittenFile>& written) const;
  // As of now: `record.num_pages` is not looked at. Outputs of the same pages and rendering that an
  // earlier record lists stay listed. Synced to disk before it returns.
  void RecordDocument(DocumentRecord record, const std::vector<int>& pages);

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
  void OpenForAppending();
  void AppendLine(const std::string& line);
  bool HasOutput(const std::string& output, const std::string& suffix, int64_t bytes) const;
  bool HasOutputs(const DocumentRecord& record, const std::string& format) const;

  ResultIdentity identity_;
  Folder root_;
  Folder state_;
  Folder temporary_;
  ResultStore results_;
  UniqueFd lock_;
  UniqueFd ledger_;
  // As of the start.
  std::map<std::string, DocumentRecord> documents_;  // by path of the outputs: its last record
  std::map<std::string, std::set<std::string>> page_files_;  // likewise: suffixes, of all records
  int64_t damaged_records_ = 0;
};

// "1-3,7": pages given ascending, each once. The inverse of ParsePageRanges.
std::string FormatPageRanges(const std::vector<int>& pages);

}  // namespace platen
