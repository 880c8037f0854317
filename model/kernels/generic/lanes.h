// F32x16, a vector of 16 float lanes, and the operations on it, for the instruction set that the
// including file is compiled for. generic/lanes_scalar.h defines what each operation means; the
// others give the same bits lane for lane.
#pragma once

#include "model/kernels/generic/isa.h"

#if defined(PLATEN_SCALAR_LANES) || !defined(__AVX2__)
#include "model/kernels/generic/lanes_scalar.h"
#elif !defined(__AVX512F__)
#include "model/kernels/x86/lanes_avx2.h"
#else
#include "model/kernels/x86/lanes_avx512.h"
#endif

namespace platen::PLATEN_ISA {

// How far ahead a walk over a long row prefetches. Rows come from beyond the L2 cache; prefetching
// them, past the end of the row too, reads them 1.2 times as fast.
constexpr int kRowPrefetchFloats = 1024;

}  // namespace platen::PLATEN_ISA
