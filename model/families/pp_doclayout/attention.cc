#include "model/families/pp_doclayout/attention.h"

#include "model/ops/norm.h"
#include "model/ops/parallel.h"

namespace platen::pp_doclayout {

void AddRows(ConstMatView x, ConstMatView positions, MatView y) {
  ParallelFor(x.rows, [&](int64_t r) {
    const float* a = x.Row(r);
    const float* b = positions.Row(r);
    float* out = y.Row(r);
    for (int64_t i = 0; i < x.cols; ++i) out[i] = a[i] + b[i];
  });
}

void Normalise(const KernelTable& kernels, const LayerNormWeights& w, float eps, MatView x) {
  LayerNormRows(kernels, x, w.weight, w.bias, eps, x);
}

void AddSelfAttention(const KernelTable& kernels, const AttentionWeights& w, int num_heads,
                      ConstMatView positions, MatView x, LinearWorkspace& linear,
                      AttentionMemory& memory) {
  const MatView placed = memory.placed.Shaped(x.rows, x.cols);
  AddRows(x, positions, placed);
  const MatView qk = memory.qk.Shaped(x.rows, 2 * x.cols);
  const MatView v = memory.v.Shaped(x.rows, x.cols);
  w.qk.Apply(kernels, placed, qk, linear);
  w.v.Apply(kernels, x, v, linear);
  const int64_t d = x.cols / num_heads;
  const auto attention =
      MakeEncoderAttention(kernels, VisionAttention::kF32, num_heads, static_cast<int>(d));
  const ImageRows all = {0, x.rows};
  attention->Begin({&all, 1}, memory.heads);
  ParallelFor(num_heads, [&](int64_t head) {
    attention->PutQueries(head, 0, qk.Columns(head * d, d), memory.heads);
    attention->PutKeys(head, 0, qk.Columns(x.cols + head * d, d), memory.heads);
    attention->PutValues(head, 0, v.Columns(head * d, d), memory.heads);
  });
  attention->Run(memory.heads);
  w.out.Apply(kernels, memory.heads.out.View(), x, linear, Linear::Mode::kAddTo);
}

}  // namespace platen::pp_doclayout
