#include "model/kernels/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace platen {

#if defined(__x86_64__)
namespace {

bool Bit(uint64_t word, int bit) { return (word >> bit & 1) != 0; }

// XCR0: one bit for each register state that the operating system saves. 0 without OSXSAVE.
uint64_t EnabledStates() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !Bit(c, 27)) return 0;
  unsigned low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

}  // namespace

CpuFeatures DetectCpuFeatures() {
  CpuFeatures cpu;
  cpu.avx2 = __builtin_cpu_supports("avx2");
  cpu.fma = __builtin_cpu_supports("fma");
  cpu.avx512f = __builtin_cpu_supports("avx512f");
  cpu.avx512dq = __builtin_cpu_supports("avx512dq");
  cpu.avx512bw = __builtin_cpu_supports("avx512bw");
  cpu.avx512vl = __builtin_cpu_supports("avx512vl");
  cpu.avx512_vnni = __builtin_cpu_supports("avx512vnni");
  cpu.avx512_bf16 = __builtin_cpu_supports("avx512bf16");
  // What GCC 12 has no name for: leaf 7 of CPUID, Intel SDM volume 2A.
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) {
    constexpr uint64_t kTileStates = 1U << 17 | 1U << 18;  // TILECFG and TILEDATA
    const bool tiles = Bit(d, 24) && (EnabledStates() & kTileStates) == kTileStates;
    cpu.avx512_fp16 = cpu.avx512f && Bit(d, 23);
    cpu.amx_int8 = tiles && Bit(d, 25);
    cpu.amx_bf16 = tiles && Bit(d, 22);
  }
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) cpu.avx_vnni = cpu.avx2 && Bit(a, 4);
  return cpu;
}

bool RequestAmxPermission() {
  constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

#else

CpuFeatures DetectCpuFeatures() { return {}; }
bool RequestAmxPermission() { return false; }

#endif

}  // namespace platen
