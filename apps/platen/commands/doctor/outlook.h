// What the figures of `platen doctor` mean for somebody with pages to read, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/forecast.h"

namespace platen {

struct OutlookFacts {
  bench::Range pages_per_hour;  // with GLM-OCR, all threads; zero: no figure
  int threads = 1;
  int64_t memory_bytes = 0;          // that this process may use
  bool has_glm_ocr = false;          // a whole snapshot that is not the bundled model
  std::string model_folder;          // where a downloaded model goes
  int64_t free_disk_bytes = -1;      // there; -1: not known
  std::vector<std::string> missing;  // what else is not there, each a sentence that says what to do
};

// What this machine will do with GLM-OCR, what that needs, and what is missing. Lines of at most
// 100 characters, the last one ends.
std::string Outlook(const OutlookFacts& facts);

}  // namespace platen
