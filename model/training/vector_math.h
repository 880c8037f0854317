// Sums and exponentials over long rows. Every result is defined on a fixed number of lanes, so it
// is the same on every CPU.
#pragma once

#include <cstdint>

namespace platen {

// x = exp(x - shift), for x <= shift; returns their sum. In float exact to a unit in the last
// place; what is below the smallest normal number becomes about as small.
template <class T>
double ExponentialsAndSum(T shift, int64_t n, T* x);

// n >= 1.
template <class T>
T LargestOf(const T* x, int64_t n);

template <class T>
T DotProduct(const T* a, const T* b, int64_t n);

}  // namespace platen
