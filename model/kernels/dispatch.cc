#include <cstring>

#include "model/kernels/kernels.h"

namespace platen {

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;

namespace {

bool CpuRuns(const KernelTable& table) {
  if (&table == &kAvx512Kernels) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  }
  if (&table == &kAvx2Kernels) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  }
  return true;
}

// Best first.
const KernelTable* const kTables[] = {&kAvx512Kernels, &kAvx2Kernels, &kScalarKernels};

}  // namespace

const KernelTable& BestKernels() {
  for (const KernelTable* table : kTables) {
    if (CpuRuns(*table)) return *table;
  }
  return kScalarKernels;
}

const KernelTable* FindKernels(const char* name) {
  for (const KernelTable* table : kTables) {
    if (std::strcmp(table->name, name) == 0 && CpuRuns(*table)) return table;
  }
  return nullptr;
}

}  // namespace platen
