// The kernels over one AVX-512 register per 16 lanes (AVX512F, DQ, BW, VL).
// This file alone is compiled with the instruction set's flags; it shares no inline code with
// others.
#include <immintrin.h>

#include <cmath>
#include <cstdint>
#include <utility>

#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"

namespace platen {
namespace {

#include "model/kernels/lanes_avx512.inc"
//
#include "model/kernels/unroll.inc"
//
#include "model/kernels/finish_row.inc"
//
#include "model/kernels/weight_stream.inc"
//
#include "model/kernels/dot_madd.inc"
//
#include "model/kernels/kernel_body.inc"

}  // namespace

extern const KernelTable kAvx512Kernels = MakeTable("avx512");

KernelTable WithAvx512Bf16(KernelTable table);

KernelTable MakeAvx512Kernels() {
  return WithFasterOrder(WithAvx512Bf16(kAvx512Kernels), kOneStreamOrder, kFourPlacesOrder);
}

}  // namespace platen
