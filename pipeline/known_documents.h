// What earlier runs have done below an output folder, as of the moment it was looked at: nothing is
// changed, and no lock is needed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "pipeline/ledger_record.h"
#include "pipeline/shard.h"
#include "stages/inputs/discover.h"
#include "stages/readers/left_behind.h"
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

// Those that ask may be called by any thread once all is loaded.
class KnownDocuments {
 public:
  // Knows nothing yet. Of documents that are not of the shard it learns nothing.
  KnownDocuments(Folder root, ResultIdentity identity, const Shard& shard = {});

  // Adds what the ledger of the folder says, if there is one.
  void Load(const Folder& folder);

  // Reads the file, unless the record of its outputs knows it as the file system shows it;
  // `patience_s` as for InputFile. Throws Error(kInput) if it is not there or cannot be read.
  KnownInput Know(const InputDocument& input, double patience_s = kUsualPatienceS) const;

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

  const Folder& root() const { return root_; }  // the output folder
  const ResultIdentity& identity() const { return identity_; }
  const Shard& shard() const { return shard_; }
  // Lines that look like a document's record and are none.
  int64_t damaged_records() const { return damaged_records_; }
  // A number larger than those of all runs that were loaded.
  int64_t next_run() const { return next_run_; }
  // Suffixes of files of single pages that any record has for the outputs of this path.
  std::set<std::string> PageFiles(const std::string& output) const;

 private:
  void LoadRecord(DocumentRecord record);
  bool HasOutput(const std::string& output, const std::string& suffix, int64_t bytes) const;
  bool HasOutputs(const DocumentRecord& record, const std::string& format) const;
  std::shared_ptr<const Folder> FolderOf(const std::string& parent) const;

  Folder root_;
  ResultIdentity identity_;
  Shard shard_;
  int64_t next_run_ = 1;
  std::map<std::string, DocumentRecord> documents_;  // by path of the outputs: its last record
  std::map<std::string, std::set<std::string>> page_files_;  // likewise: suffixes, of all records
  int64_t damaged_records_ = 0;
  // The folder of outputs that was looked into last: documents come folder by folder.
  mutable std::mutex folder_mutex_;
  mutable std::string folder_name_;
  mutable std::shared_ptr<const Folder> folder_;
};

// Loads every ledger below OUT/.platen of runs without a shard and of shards that may have
// documents of `known`; `visit` is called with the folder of each such shard before.
void LoadLedgers(const Folder& common, KnownDocuments& known,
                 const std::function<void(const Folder&)>& visit = nullptr);

}  // namespace platen
