#include "model/kernels/generic/attention_int8.h"
#include "tests/model/kernels/int8_exponential.h"

namespace platen {

void Int8ExponentialAvx2(const float* x, int n, float* e) {
  using namespace PLATEN_ISA;
  for (int i = 0; i < n; i += 16) Store(Round(Int8Exp(Load(x + i))), e + i);
}

}  // namespace platen
