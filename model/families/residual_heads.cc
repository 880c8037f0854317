#include "model/families/residual_heads.h"

#include <string>

#include "model/ops/norm.h"

namespace platen {
namespace {

struct HeadsWorkspace : Workspace {
  Mat normed;  // [R, D]
  Mat branch;  // [R, D]
  GatedMlpWorkspace mlp;
};

}  // namespace

void DescribeResidualHeads(const ResidualHeadsConfig& config,
                           std::vector<ResidualHeadWeights>& heads, ModuleTable& table) {
  heads.resize(static_cast<size_t>(config.count));
  ModuleScope scope(table, "mtp_layers.", "mtp", RowsOf::kDraft);
  const int64_t hidden = config.hidden_size, inner = config.inner_size;
  for (int k = 0; k < config.count; ++k) {
    ResidualHeadWeights& head = heads[static_cast<size_t>(k)];
    const std::string name = std::to_string(k);
    scope.AddVector(head.norm, name + ".norm.weight", hidden);
    scope
        .AddStacked(head.mlp.gate_up, name + ".gate_up_proj",
                    {{name + ".gate_proj", inner}, {name + ".up_proj", inner}}, hidden)
        .silu_mul = config.activation == Activation::kSilu;
    scope.AddLinear(head.mlp.down, name + ".down_proj", {hidden, inner});
  }
}

ResidualHeads::ResidualHeads(Activation activation, float norm_eps,
                             const std::vector<ResidualHeadWeights>& weights,
                             const KernelTable& kernels)
    : activation_(activation), norm_eps_(norm_eps), weights_(weights), kernels_(kernels) {}

std::unique_ptr<Workspace> ResidualHeads::MakeWorkspace() const {
  return std::make_unique<HeadsWorkspace>();
}

void ResidualHeads::Apply(int k, MatView x, Workspace& workspace) const {
  auto& ws = static_cast<HeadsWorkspace&>(workspace);
  const ResidualHeadWeights& w = weights_[static_cast<size_t>(k)];
  MatView normed = ws.normed.Shaped(x.rows, x.cols);
  MatView branch = ws.branch.Shaped(x.rows, x.cols);
  RmsNormRows(kernels_, x, w.norm, norm_eps_, normed);
  ApplyMlp(kernels_, activation_, w.mlp, normed, branch, ws.mlp, ws.linear);
  for (int64_t r = 0; r < x.rows; ++r) {
    kernels_.add(branch.Row(r), static_cast<size_t>(x.cols), x.Row(r));
  }
}

}  // namespace platen
