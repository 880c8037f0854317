// Orders of work of the int8 product, and which of two is faster on this CPU: measured, not guessed
// from its name.
#pragma once

#include "model/kernels/kernels.h"

namespace platen {

// How the weights that follow in memory are fetched. Which is better is the memory's business: four
// places read side by side give 17 GB/s where one stream gives 11 (Intel's Sapphire Rapids), or 22
// where one gives 30 (AMD's Zen 4).
enum class WeightFetch { kNone, kFourPlaces, kOneStream };

// The table with these orders, the faster one first and as its gemm_s8; attention reads its pages
// in the same manner (heads_together). Times both with four rows on weights that no cache holds,
// where they differ most (1.6 times on the CPUs seen so far); half a millisecond. The choice
// changes no bit, so a wrong one costs speed alone.
KernelTable WithFasterOrder(KernelTable table, const S8Order& one, const S8Order& other);

}  // namespace platen
