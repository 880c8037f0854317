#include "pipeline/hardware.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "model/kernels/cpu_features.h"
#include "model/support/container_limits.h"

namespace platen {
namespace {

// "key : value" of a /proc file; empty if there is none.
std::string ProcValue(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

int64_t MemoryBytes(const std::string& key) {
  std::istringstream value(ProcValue("/proc/meminfo", key + ":"));
  int64_t kib = 0;
  value >> kib;
  return kib * 1024;
}

}  // namespace

std::string CpuName() { return ProcValue("/proc/cpuinfo", "model name"); }

std::vector<std::string> CpuFeatureNames() {
  const CpuFeatures cpu = DetectCpuFeatures();
  const std::pair<bool, const char*> all[] = {{cpu.avx2, "avx2"},
                                              {cpu.fma, "fma"},
                                              {cpu.avx512f, "avx512f"},
                                              {cpu.avx512bw, "avx512bw"},
                                              {cpu.avx512vl, "avx512vl"},
                                              {cpu.avx512_vnni, "avx512vnni"},
                                              {cpu.avx512_bf16, "avx512bf16"},
                                              {cpu.avx_vnni, "avx-vnni"},
                                              {cpu.avx512_fp16, "avx512fp16"},
                                              {cpu.amx_bf16, "amx-bf16"},
                                              {cpu.amx_int8, "amx-int8"}};
  std::vector<std::string> names;
  for (const auto& [present, name] : all) {
    if (present) names.emplace_back(name);
  }
  return names;
}

int64_t TotalMemoryBytes() { return MemoryBytes("MemTotal"); }
int64_t AvailableMemoryBytes() { return MemoryBytes("MemAvailable"); }

int64_t UsableMemoryBytes() {
  const int64_t total = TotalMemoryBytes();
  return std::min(total, ReadContainerLimits().memory_bytes.value_or(total));
}

int AvailableCpus() { return UsableCpus(ReadContainerLimits()); }

}  // namespace platen
