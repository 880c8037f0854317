// What has been done below an output folder: OUT/.platen/.
//
//   lock          held by the one run that writes here
//   ledger.jsonl  one JSON object per line, only ever appended to: runs, pages, documents
//   pages/        finished pages of unfinished documents (page_file.h)
//   tmp/          files on their way to their names; emptied at every start
//
// A document is finished when its record stands in the ledger and its outputs have the recorded
// sizes. The record is written after the outputs are on disk, so a crash in between repeats the
// writing, never the reading. A document with failed pages has a record too, but is tried again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/page_file.h"
#include "stages/discover.h"
#include "stages/write_outputs.h"

namespace platen {

// What makes two runs' results of a document the same.
struct ResultIdentity {
  std::string fingerprint;           // of the model, the version and every option that changes results
  std::vector<std::string> formats;  // outputs that must be there
};

// One process, one thread at a time for the writing members; IsFinished and OpenPages may be called
// from another thread meanwhile (they touch nothing that writing changes).
class Ledger {
 public:
  // Creates OUT/.platen, takes the lock and reads what earlier runs left. A last line that a crash
  // cut short is ignored. Throws Error(kEnvironment), also if another run holds the lock.
  Ledger(const std::string& output_dir, ResultIdentity identity);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;
  ~Ledger();

  // Names this version of this document: its output path, size and modification time, and the
  // fingerprint. Throws Error(kInput) if the file is not there.
  std::string KeyOf(const InputDocument& input) const;

  // All pages read, and all outputs there as they were written.
  bool IsFinished(const std::string& key, const InputDocument& input) const;
  // Pages of the finished document; 0 if unknown.
  int PagesOf(const std::string& key) const;

  // The document's finished pages. `forget` starts it anew.
  std::unique_ptr<PageFile> OpenPages(const std::string& key, bool forget) const;

  void RecordRun(const std::string& version, const std::string& model_id);
  void RecordPage(const std::string& key, const InputDocument& input, const PageResult& page);
  // Synced to disk before it returns.
  void RecordDocument(const std::string& key, const InputDocument& input, int pages, int failed,
                      const std::vector<WrittenFile>& outputs);

  const std::string& output_dir() const { return output_dir_; }
  std::string temporary_dir() const { return state_dir_ + "/tmp"; }
  const ResultIdentity& identity() const { return identity_; }

 private:
  struct DocumentRecord {
    int pages = 0;
    int failed = 0;
    std::map<std::string, int64_t> output_bytes;  // by format
  };

  void TakeLock();
  void EmptyTemporaryFolder() const;
  void Load();
  void LoadLine(const std::string& line);
  void AppendLine(const std::string& line);

  std::string output_dir_;
  std::string state_dir_;
  ResultIdentity identity_;
  int lock_fd_ = -1;
  int fd_ = -1;
  std::map<std::string, DocumentRecord> documents_;  // as of the start, by key
};

}  // namespace platen
