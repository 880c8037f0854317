// Tables and parts of tables that the files of the instruction sets define. dispatch.cc puts them
// together. All are constants: nothing is computed, and no instruction of a set is executed, before
// dispatch.cc knows that the CPU has it.
#pragma once

#include "model/kernels/kernels.h"

namespace platen {

extern const KernelTable kScalarKernels;  // generic/scalar.cc

#if defined(PLATEN_X86_KERNELS)
extern const KernelTable kAvx2Kernels;    // x86/avx2.cc: AVX2, FMA
extern const KernelTable kAvx512Kernels;  // x86/avx512.cc: AVX512F, DQ, BW, VL

// x86/avx_vnni.cc: AVX2, AVX_VNNI. The rest of this table is kAvx2Kernels.
extern const GemmSchedules kAvxVnniSchedules;
void AttentionInt8AvxVnni(const AttentionInt8Job& job);

// x86/avx512_vnni.cc: those of kAvx512Kernels, AVX512_VNNI. The rest is kAvx512Kernels.
extern const GemmSchedules kAvx512VnniSchedules;
void GemmS8PanelsAvx512Vnni(const GemmS8Job& job);  // the gemm_s8 of the two schedules
void GemmS8SlicesAvx512Vnni(const GemmS8Job& job);

// x86/amx_gemm.cc: those of kAvx512VnniSchedules, AMX_INT8; needs RequestAmxPermission(). The
// schedules are kAvx512VnniSchedules for jobs of few rows, and both use tiles for others.
extern const GemmSchedules kAmxSchedules;

// x86/avx512_vnni_attention.cc: AVX512_VNNI.
void AttentionInt8Avx512Vnni(const AttentionInt8Job& job);

// x86/amx_attention.cc: AVX512_VNNI, AMX_INT8, permission.
void AttentionInt8Amx(const AttentionInt8Job& job);
#endif

}  // namespace platen
