#include <cpuid.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "model/kernels/kernels.h"

namespace platen {

extern const KernelTable kScalarKernels;
KernelTable MakeAvx2Kernels();
KernelTable MakeAvx512Kernels();
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

bool Always() { return true; }
bool CpuHasAmx() { return CpuHasAvx512Vnni() && CpuHasAmxInt8(); }  // what it does not take up

// A table made at its first use.
template <KernelTable (*kMake)()>
const KernelTable& Made() {
  static const KernelTable table = kMake();
  return table;
}
const KernelTable& Scalar() { return kScalarKernels; }

struct Entry {
  const char* name;
  bool (*can_run)();
  const KernelTable& (*table)();
};
// Best first.
constexpr Entry kEntries[] = {{"amx", CpuHasAmx, Made<MakeAmxKernels>},
                              {"avx512-vnni", CpuHasAvx512Vnni, Made<MakeAvx512VnniKernels>},
                              {"avx-vnni", CpuHasAvxVnni, Made<MakeAvxVnniKernels>},
                              {"avx512", CpuHasAvx512, Made<MakeAvx512Kernels>},
                              {"avx2", CpuHasAvx2, Made<MakeAvx2Kernels>},
                              {"scalar", Always, Scalar}};
static_assert(std::size(kEntries) == std::size(kKernelNames));

}  // namespace

const KernelTable& BestKernels() {
  return std::find_if(std::begin(kEntries), std::end(kEntries),
                      [](const Entry& entry) { return entry.can_run(); })
      ->table();
}

const KernelTable* FindKernels(const char* name) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) == 0) return entry.can_run() ? &entry.table() : nullptr;
  }
  return nullptr;
}

}  // namespace platen
