#include <algorithm>
#include <cstring>
#include <iterator>

#include "model/kernels/cpu_features.h"
#include "model/kernels/gemm_schedule.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"

namespace platen {
namespace {

bool Always(const CpuFeatures&) { return true; }
const KernelTable& Scalar() { return kScalarKernels; }

#if defined(PLATEN_X86_KERNELS)

bool HasAvx2(const CpuFeatures& cpu) { return cpu.avx2 && cpu.fma; }
bool HasAvxVnni(const CpuFeatures& cpu) { return HasAvx2(cpu) && cpu.avx_vnni; }
bool HasAvx512(const CpuFeatures& cpu) {
  return cpu.avx512f && cpu.avx512dq && cpu.avx512bw && cpu.avx512vl && cpu.fma;
}
bool HasAvx512Vnni(const CpuFeatures& cpu) { return HasAvx512(cpu) && cpu.avx512_vnni; }
bool HasAmx(const CpuFeatures& cpu) {
  return HasAvx512Vnni(cpu) && cpu.amx_int8 && RequestAmxPermission();
}

// `table` under another name and with other products of int8 values.
KernelTable With(KernelTable table, const char* name, const GemmSchedules& schedules,
                 void (*attention_int8)(const AttentionInt8Job&)) {
  table.name = name;
  table.schedules = schedules;
  table.attention_int8 = attention_int8;
  return WithSchedule(table, 0);
}

const KernelTable& Avx2() { return kAvx2Kernels; }
const KernelTable& AvxVnni() {
  static const KernelTable table =
      With(kAvx2Kernels, "avx-vnni", kAvxVnniSchedules, AttentionInt8AvxVnni);
  return table;
}
const KernelTable& Avx512() { return kAvx512Kernels; }
const KernelTable& Avx512Vnni() {
  static const KernelTable table =
      With(kAvx512Kernels, "avx512-vnni", kAvx512VnniSchedules, AttentionInt8Avx512Vnni);
  return table;
}
const KernelTable& Amx() {
  static const KernelTable table =
      With(kAvx512Kernels, "amx", kAmxSchedules, AttentionInt8Amx);
  return table;
}

#endif

struct Entry {
  const char* name;
  bool (*can_run)(const CpuFeatures& cpu);
  const KernelTable& (*table)();
};
// In the order of kKernelNames.
constexpr Entry kEntries[] = {
#if defined(PLATEN_X86_KERNELS)
    {"amx", HasAmx, Amx},
    {"avx512-vnni", HasAvx512Vnni, Avx512Vnni},
    {"avx-vnni", HasAvxVnni, AvxVnni},
    {"avx512", HasAvx512, Avx512},
    {"avx2", HasAvx2, Avx2},
#endif
    {"scalar", Always, Scalar}};

}  // namespace

const KernelTable& BestKernels() {
  const CpuFeatures cpu = DetectCpuFeatures();
  return std::find_if(std::begin(kEntries), std::end(kEntries),
                      [&cpu](const Entry& entry) { return entry.can_run(cpu); })
      ->table();
}

const KernelTable* FindKernels(const char* name) {
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) != 0) continue;
    return entry.can_run(DetectCpuFeatures()) ? &entry.table() : nullptr;
  }
  return nullptr;
}

}  // namespace platen
