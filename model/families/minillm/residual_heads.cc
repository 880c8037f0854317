#include "model/families/minillm/residual_heads.h"

#include "model/ops/norm.h"

namespace platen::minillm {
namespace {

struct HeadsWorkspace : Workspace {
  Mat normed;  // [R, D]
  Mat branch;  // [R, D]
  MlpWorkspace mlp;
};

}  // namespace

ResidualHeads::ResidualHeads(const Config& config, const Weights& weights,
                             const KernelTable& kernels)
    : activation_(config.activation),
      norm_eps_(config.norm_eps),
      weights_(weights),
      kernels_(kernels) {}

std::unique_ptr<Workspace> ResidualHeads::MakeWorkspace() const {
  return std::make_unique<HeadsWorkspace>();
}

void ResidualHeads::Apply(int k, MatView x, Workspace& workspace) const {
  auto& ws = static_cast<HeadsWorkspace&>(workspace);
  const ResidualHeadWeights& w = weights_.heads[static_cast<size_t>(k)];
  MatView normed = ws.normed.Shaped(x.rows, x.cols);
  MatView branch = ws.branch.Shaped(x.rows, x.cols);
  RmsNormRows(kernels_, x, w.norm, norm_eps_, normed);
  ApplyMlp(kernels_, activation_, w.mlp, normed, branch, ws.mlp, ws.linear);
  for (int64_t r = 0; r < x.rows; ++r) {
    kernels_.add(branch.Row(r), static_cast<size_t>(x.cols), x.Row(r));
  }
}

}  // namespace platen::minillm
