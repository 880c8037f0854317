// How far a download is, for its user.
#pragma once

#include <cstdint>
#include <string>

#include "apps/platen/cli/live_line.h"

namespace platen {

// "2.65 GB", "812 kB", "17 bytes".
std::string DecimalBytes(int64_t bytes);

// "[42 %] 1.12 GB of 2.65 GB, 35.2 MB/s, 45 s left, model.safetensors". `come`: bytes that came in
// `elapsed_s`, of the `done`.
std::string FetchProgressText(int64_t done, int64_t total, int64_t come, double elapsed_s,
                              const std::string& file);

// Not thread-safe.
class FetchProgress {
 public:
  // `there`: bytes of `total` that earlier runs have left.
  FetchProgress(int64_t total, int64_t there, bool quiet);

  // From now on `file` is downloaded, of which `there` bytes are there.
  void Begin(const std::string& file, int64_t there);
  void Show(int64_t bytes_of_file);
  void Finish() { line_.Finish(); }

 private:
  LiveLine line_;
  int64_t total_;
  int64_t there_;       // at the start of the run
  int64_t before_ = 0;  // of all files but the one that is being downloaded
  int64_t of_file_ = 0;
  std::string file_;
};

}  // namespace platen
