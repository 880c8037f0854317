// Where answers go: a file that grows line by line and that a later run goes on with, or standard
// output.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "model/support/folder.h"

namespace platen {

class ResultsFile {
 public:
  // Empty or "-": standard output. A file that is there is gone on with: a line that an interrupted
  // run has not finished is cut off. `force`: it is emptied. Throws Error(kInput) if what is there
  // are no results, Error(kEnvironment) if it cannot be written.
  ResultsFile(const std::string& path, bool force);

  // A result that an earlier run has written.
  struct Kept {
    int64_t line = 0;     // of the request
    std::string request;  // HashHex of what was asked
    bool failed = false;
  };
  // The kept results that were not taken yet, in order.
  std::deque<Kept>& kept() { return kept_; }

  // One line of JSON, without its end.
  void Append(std::string_view json);
  // Makes what was appended last.
  void Sync();

  const std::string& path() const { return path_; }

 private:
  void ReadKept();

  std::string path_;
  UniqueFd fd_;  // none: standard output
  std::deque<Kept> kept_;
};

}  // namespace platen
