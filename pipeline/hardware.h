// What this machine offers, for reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace platen {

std::string CpuName();                       // as /proc/cpuinfo has it
std::vector<std::string> CpuFeatureNames();  // of those the kernels know: "avx2", "fma", ...
int64_t TotalMemoryBytes();
int64_t AvailableMemoryBytes();
int64_t UsableMemoryBytes();  // of this process: no more than its container may use
int AvailableCpus();          // likewise

}  // namespace platen
