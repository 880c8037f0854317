#include <cpuid.h>

#include <cstring>
#include <iterator>

#include "model/kernels/kernels.h"

namespace platen {

extern const KernelTable kScalarKernels;
extern const KernelTable kAvx2Kernels;
extern const KernelTable kAvx512Kernels;
KernelTable MakeAvx512VnniKernels();
KernelTable MakeAvxVnniKernels();
KernelTable MakeAmxKernels();
bool CpuHasAmxInt8();

namespace {

bool CpuHasAvx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool CpuHasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
bool CpuHasAvxVnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return CpuHasAvx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
bool CpuHasAvx512Vnni() { return CpuHasAvx512() && __builtin_cpu_supports("avx512vnni"); }

// A table of what this CPU can run, best first; at least the scalar one.
struct Runnable {
  const KernelTable* tables[std::size(kKernelNames)];
  int count = 0;

  Runnable() {
    if (CpuHasAvx512Vnni()) {
      if (CpuHasAmxInt8()) {
        static const KernelTable amx = MakeAmxKernels();
        tables[count++] = &amx;
      }
      static const KernelTable vnni = MakeAvx512VnniKernels();  // its code needs the CPU, too
      tables[count++] = &vnni;
    }
    if (CpuHasAvxVnni()) {
      static const KernelTable avx_vnni = MakeAvxVnniKernels();
      tables[count++] = &avx_vnni;
    }
    if (CpuHasAvx512()) tables[count++] = &kAvx512Kernels;
    if (CpuHasAvx2()) tables[count++] = &kAvx2Kernels;
    tables[count++] = &kScalarKernels;
  }
};

const Runnable& AllRunnable() {
  static const Runnable runnable;
  return runnable;
}

}  // namespace

const KernelTable& BestKernels() { return *AllRunnable().tables[0]; }

const KernelTable* FindKernels(const char* name) {
  const Runnable& runnable = AllRunnable();
  for (int i = 0; i < runnable.count; ++i) {
    if (std::strcmp(runnable.tables[i]->name, name) == 0) return runnable.tables[i];
  }
  return nullptr;
}

}  // namespace platen
