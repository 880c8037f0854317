// What the CPU of this process can do, as far as kernels use it.
#pragma once

namespace platen {

// Instruction sets that the CPU has and whose registers the operating system saves. All false on
// CPUs other than x86-64.
struct CpuFeatures {
  bool avx2 = false;
  bool fma = false;
  bool avx_vnni = false;
  bool avx512f = false;
  bool avx512dq = false;
  bool avx512bw = false;
  bool avx512vl = false;
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool amx_int8 = false;  // with the tile registers, as amx_bf16
  bool amx_bf16 = false;
};

// Reads CPUID and the enabled register states; changes nothing. At most 0.1 ms, in a virtual
// machine.
CpuFeatures DetectCpuFeatures();

// Asks Linux for permission to use the tile registers of AMX in all threads of this process;
// without it the first tile instruction ends the process. False: refused. May be repeated.
bool RequestAmxPermission();

}  // namespace platen
