// The kernels over one AVX-512 register per 16 lanes (AVX512F, DQ, BW, VL).
#include "model/kernels/generic/float_kernels.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"
#include "model/kernels/x86/dot_madd.h"

namespace platen {

using PLATEN_ISA::MaddDotProduct;

constexpr KernelTable kAvx512Kernels = PLATEN_ISA::FloatKernels<MaddDotProduct>(
    "avx512", PLATEN_ISA::kPrefetchSchedules<MaddDotProduct>);

}  // namespace platen
