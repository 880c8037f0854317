// The lines of a requests file, numbered, in bounded memory.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace platen {

class RequestsFile {
 public:
  // "-": standard input. Throws Error(kUsage) if the file cannot be opened.
  explicit RequestsFile(const std::string& path);

  struct Line {
    int64_t number = 0;  // in the file, from 1
    std::string text;
    bool too_long = false;  // more than kMostRequestLineBytes; the text is what fits
  };
  // The next line that is not blank; false at the end. Throws Error(kEnvironment) if reading fails.
  bool Next(Line& line);

  // For messages: "requests.jsonl:7".
  std::string Where(int64_t number) const;
  // Relative paths in it are below this folder; empty: the current one.
  const std::string& folder() const { return folder_; }

 private:
  std::string name_, folder_;
  std::ifstream file_;
  std::istream* in_ = nullptr;
  int64_t number_ = 0;
};

}  // namespace platen
