#include "model/ops/swiglu.h"

namespace platen {
namespace {

// Below, the floats stay in the cache, and jobs of whole groups are too few for many threads.
constexpr int64_t kFewestRowsToFeed = 192;

}  // namespace

void ApplySwiGlu(const KernelTable& kernels, const Linear& gate_up, const Linear& down,
                 const LinearInput& input, MatView y, LinearWorkspace& ws, Linear::Mode mode) {
  // An observer sees the floats that go into `down`.
  if (y.rows >= kFewestRowsToFeed && !ws.observer && gate_up.CanFeed(down)) {
    gate_up.ApplyInto(down, kernels, input, ws.quantized_inner, ws);
    down.ApplyQuantized(kernels, ws.quantized_inner, y, mode);
    return;
  }
  const MatView inner = ws.inner.Shaped(y.rows, gate_up.columns());
  gate_up.Apply(kernels, input, inner, ws);
  down.Apply(kernels, inner, y, ws, mode);
}

}  // namespace platen
