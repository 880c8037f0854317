// Files of recorded pages: what training of draft heads reads.
//
// A file is a row of records; each is its length, a checksum, a JSON header and arrays (little
// endian): ids int32 [L], positions int32 [3, L], hidden f32 [L - 1, D], teacher ids int32 and
// logits f32 [L - P, W]. A record whose
// checksum is wrong is left out; one that is torn ends its file. Records hold the text of
// the pages they were made from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/support/folder.h"
#include "model/training/training_page.h"

namespace platen {

// With what a page was read. Pages of one training were read with one and the same.
struct RecordedWith {
  std::string base_model;  // WeightsHash of the target
  std::string precision;   // "f32" or "int8"
  int64_t hidden_size = 0;
  int64_t vocab_size = 0;

  bool operator==(const RecordedWith&) const = default;
};

// Appends records to a file of its own in a folder. Thread-safe.
class PageRecorder {
 public:
  static constexpr const char* kEnding = ".drafts";

  // `most_bytes`: of all records in the folder; no page is added beyond. Throws
  // Error(kEnvironment).
  PageRecorder(const std::string& folder, RecordedWith with, int64_t most_bytes);
  ~PageRecorder();

  // False: there was no room. Throws Error(kEnvironment) if it cannot be written.
  bool Add(const TrainingPage& page);

  int64_t pages() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct RecordedPages {
  RecordedWith with;
  // By document and place; of several of one place the last. Of each, what TrainingPage::read says:
  // vectors and logits stay in the files until a page is used.
  std::vector<TrainingPage> pages;
  int64_t damaged = 0;     // records that were left out, because they are not what was written
  int64_t torn = 0;        // files that end within a record, as a run that was killed leaves them
  int64_t torn_bytes = 0;  // behind their last whole records
};

// All records of a folder, each read and checked once, in an order that does not depend on who
// wrote what when. Throws Error(kInput) naming the file if there are none, or if they were read
// with different models; Error(kEnvironment) if what is held of them needs more than `most_bytes`.
RecordedPages ReadRecords(const std::string& folder, int64_t most_bytes);

// One record's bytes, checked: every length against the bytes that are there. Throws Error(kInput)
// naming `file`.
TrainingPage ParseRecord(std::string_view payload, const std::string& file, RecordedWith& with);
std::string RecordBytes(const TrainingPage& page, const RecordedWith& with);

}  // namespace platen
