// The kernels over two AVX2 registers per 16 lanes (with FMA).
#include "model/kernels/generic/float_kernels.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/kernels.h"
#include "model/kernels/tables.h"
#include "model/kernels/x86/dot_madd.h"

namespace platen {

using PLATEN_ISA::MaddDotProduct;

constexpr KernelTable kAvx2Kernels = PLATEN_ISA::FloatKernels<MaddDotProduct>(
    "avx2", PLATEN_ISA::kPrefetchSchedules<MaddDotProduct>);

}  // namespace platen
