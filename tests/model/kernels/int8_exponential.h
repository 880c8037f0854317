// The exponential of attention in exact integers, of each instruction set: e[i] of x[i] for n
// values, a multiple of 16. The CPU must have the instructions.
#pragma once

namespace platen {

void Int8ExponentialScalar(const float* x, int n, float* e);
void Int8ExponentialAvx2(const float* x, int n, float* e);
void Int8ExponentialAvx512(const float* x, int n, float* e);

}  // namespace platen
