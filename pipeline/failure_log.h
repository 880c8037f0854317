// Every failure of a run: the first of them in memory, all of them in OUT/failures.jsonl, which is
// a list of inputs too (ParseNameList).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/support/atomic_file.h"
#include "model/support/failure_code.h"

namespace platen {

// A page or document that failed.
struct Failure {
  std::string name;    // DisplayName of the input
  std::string path;    // of the input, absolute
  std::string output;  // path of its outputs below the output folder, without their endings
  int page = 0;        // 0: the document
  int of_pages = 0;    // of the document; 0: unknown
  Fault error;
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
  const std::map<FailureCode, int64_t>& counts() const { return counts_; }

 private:
  AtomicFile file_;
  std::vector<Failure> first_;
  int64_t count_ = 0;
  std::map<FailureCode, int64_t> counts_;  // by reason
};

}  // namespace platen
