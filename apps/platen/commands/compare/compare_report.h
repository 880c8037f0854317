// What `platen compare` found, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/comparison.h"

namespace platen {

struct SideReport {
  std::string model;  // folder
  std::string precision;
  std::string attention;
  int64_t weight_bytes = 0;  // packed
  double load_s = 0;
  double wall_s = 0;  // reading the pages; layout and decoding of files not included
  double core_s = 0;
};

struct CompareReport {
  SideReport a, b;
  std::string kernels;
  int threads = 1;
  std::vector<PageComparison> pages;
  ComparisonSummary summary;
  int64_t peak_memory_bytes = 0;  // of the process: both sides
};

// One sentence in simple words.
std::string Verdict(const CompareReport& report);

// With the `worst` most different pages.
std::string CompareReportText(const CompareReport& report, size_t worst);
std::string CompareReportJson(const CompareReport& report);

}  // namespace platen
