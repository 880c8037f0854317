// Every failure of a run: the first of them in memory, all of them in OUT/failures.jsonl.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/support/atomic_file.h"

namespace platen {

// A page or document that failed.
struct Failure {
  std::string name;  // DisplayName of the input
  int page = 0;      // 0: the document
  int of_pages = 0;  // of the document; 0: unknown
  std::string error;
};

// Used by one thread at a time. The folders outlive it; all members throw Error when the disk
// refuses.
class FailureLog {
 public:
  static constexpr const char* kFileName = "failures.jsonl";
  static constexpr size_t kMostInMemory = 1000;

  // The file takes its name, and the place of the last run's, at Commit.
  FailureLog(const Folder& root, const Folder& temporary)
      : file_(temporary, kFileName, root, kFileName) {}

  void Add(const Failure& failure);
  void Commit() { file_.Commit(); }

  const std::vector<Failure>& first() const { return first_; }  // in order
  int64_t count() const { return count_; }

 private:
  AtomicFile file_;
  std::vector<Failure> first_;
  int64_t count_ = 0;
};

}  // namespace platen
