// The kernels over one AVX-512 register per 16 lanes (AVX512F, DQ, BW, VL).
#include "model/kernels/generic/float_kernels.h"
#include "model/kernels/generic/gemm_s8.h"
#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"
#include "model/kernels/x86/dot_madd.h"

namespace platen {

using PLATEN_ISA::MaddDotProduct;

extern constexpr KernelTable kAvx512Kernels = PLATEN_ISA::FloatKernels<MaddDotProduct>("avx512");

KernelTable WithAvx512Bf16(KernelTable table);

KernelTable MakeAvx512Kernels() {
  return WithFasterOrder(WithAvx512Bf16(kAvx512Kernels),
                         PLATEN_ISA::kOneStreamOrder<MaddDotProduct>,
                         PLATEN_ISA::kFourPlacesOrder<MaddDotProduct>);
}

}  // namespace platen
