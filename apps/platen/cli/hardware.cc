#include "apps/platen/cli/hardware.h"

#include <cpuid.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "model/kernels/kernels.h"
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

std::vector<std::string> CpuFeatures() {
  std::vector<std::string> features;
  const auto add = [&features](bool present, const char* name) {
    if (present) features.emplace_back(name);
  };
  add(__builtin_cpu_supports("avx2"), "avx2");
  add(__builtin_cpu_supports("fma"), "fma");
  add(__builtin_cpu_supports("avx512f"), "avx512f");
  add(__builtin_cpu_supports("avx512bw"), "avx512bw");
  add(__builtin_cpu_supports("avx512vl"), "avx512vl");
  add(__builtin_cpu_supports("avx512vnni"), "avx512vnni");
  add(__builtin_cpu_supports("avx512bf16"), "avx512bf16");
  add(FindKernels("avx-vnni") != nullptr, "avx-vnni");
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    add((d >> 23 & 1) != 0, "avx512fp16");
    add((d >> 22 & 1) != 0, "amx-bf16");
  }
  add(FindKernels("amx") != nullptr, "amx-int8");
  return features;
}

int64_t TotalMemoryBytes() { return MemoryBytes("MemTotal"); }
int64_t AvailableMemoryBytes() { return MemoryBytes("MemAvailable"); }

int64_t UsableMemoryBytes() {
  const int64_t total = TotalMemoryBytes();
  return std::min(total, ReadContainerLimits().memory_bytes.value_or(total));
}

int AvailableCpus() { return UsableCpus(ReadContainerLimits()); }

}  // namespace platen
