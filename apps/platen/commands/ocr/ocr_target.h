// Where platen ocr writes: a folder the user named, or standard output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/platen/cli/settings.h"
#include "pipeline/batch_sink.h"

namespace platen {

// Nobody reads standard output any more (a pipe to `head`). Not an error of anybody's.
struct ReaderGone {};

// With standard output the results go to a temporary folder first, which is removed at the end.
class OcrTarget {
 public:
  // Makes nothing yet. Throws Error(kUsage) for a choice of formats that cannot be printed.
  explicit OcrTarget(const Settings& settings);
  OcrTarget(const OcrTarget&) = delete;
  OcrTarget& operator=(const OcrTarget&) = delete;
  ~OcrTarget();

  // Makes the folder, if need be. Throws Error(kEnvironment) if it cannot be written to, or if a
  // folder stands where a report will be.
  void Prepare();

  // Prints a finished document. Throws Error(kUsage) if its format has several files, Error(
  // kEnvironment), or ReaderGone.
  void Print(const FinishedDocument& document);

  bool is_stdout() const { return is_stdout_; }
  bool was_named() const { return was_named_; }    // by -o
  const std::string& dir() const { return dir_; }  // empty before Prepare if it is temporary
  const std::vector<std::string>& formats() const { return formats_; }

 private:
  bool is_stdout_;
  bool was_named_;
  std::string dir_;
  std::vector<std::string> formats_;
  bool printed_ = false;
};

}  // namespace platen
