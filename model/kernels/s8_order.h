// Which order of work of the int8 product is faster on this CPU: measured, not guessed from its name.
#pragma once

#include "model/kernels/kernels.h"

namespace platen {

// Puts the faster of a table's two orders first and into gemm_s8. Times both with four rows on weights
// that no cache holds, where they differ most (1.6 times on the CPUs seen so far); half a
// millisecond. The choice changes no bit, so a wrong one costs speed alone.
void TakeFasterOrder(KernelTable& table);

}  // namespace platen
