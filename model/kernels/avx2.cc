// The kernels over two AVX2 registers per 16 lanes (with FMA).
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

#include "model/kernels/lanes_avx2.inc"
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

extern const KernelTable kAvx2Kernels = MakeTable("avx2");

KernelTable MakeAvx2Kernels() {
  return WithFasterOrder(kAvx2Kernels, kOneStreamOrder, kFourPlacesOrder);
}

}  // namespace platen
