#include "model/families/gated_mlp.h"

#include "model/ops/swiglu.h"

namespace platen {
namespace {

// inner[r][i] = relu(gate)^2 * up, in the columns of the gate.
void Relu2(MatView inner) {
  const int64_t half = inner.cols / 2;
  for (int64_t r = 0; r < inner.rows; ++r) {
    float* gate = inner.Row(r);
    const float* up = gate + half;
    for (int64_t i = 0; i < half; ++i) {
      const float g = gate[i] > 0 ? gate[i] : 0;
      gate[i] = g * g * up[i];
    }
  }
}

}  // namespace

void ApplyMlp(const KernelTable& kernels, Activation activation, const MlpWeights& w,
              ConstMatView x, MatView y, GatedMlpWorkspace& ws, LinearWorkspace& linear) {
  if (activation == Activation::kSilu) {
    ApplySwiGlu(kernels, w.gate_up, w.down, x, y, linear);
    return;
  }
  MatView inner = ws.inner.Shaped(x.rows, w.gate_up.columns());
  w.gate_up.Apply(kernels, x, inner, linear);
  Relu2(inner);
  w.down.Apply(kernels, inner.Columns(0, inner.cols / 2), y, linear);
}

}  // namespace platen
