// The meaning of every kernel: 16 lanes as an array, no instruction set beyond the baseline.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "model/kernels/kernels.h"
#include "model/kernels/s8_order.h"

namespace platen {
namespace {

#define PLATEN_INLINE inline
#include "model/kernels/lanes_scalar.inc"
//
#include "model/kernels/unroll.inc"
//
#include "model/kernels/finish_row.inc"
//
#include "model/kernels/kernel_body.inc"

}  // namespace

extern const KernelTable kScalarKernels = MakeTable("scalar");

}  // namespace platen
