// The kernels over two AVX2 registers per 16 lanes (with FMA).
#include "model/kernels/generic/float_kernels.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"
#include "model/kernels/x86/dot_madd.h"

namespace platen {

using PLATEN_ISA::MaddDotProduct;

extern constexpr KernelTable kAvx2Kernels = PLATEN_ISA::FloatKernels<MaddDotProduct>("avx2");

KernelTable MakeAvx2Kernels() {
  return WithFasterOrder(kAvx2Kernels, PLATEN_ISA::kOneStreamOrder<MaddDotProduct>,
                         PLATEN_ISA::kFourPlacesOrder<MaddDotProduct>);
}

}  // namespace platen
