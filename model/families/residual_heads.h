// Draft heads behind any decoder: g becomes g + mlp(norm(g)), from head to head. MiniLLM's
// snapshots have them; those of other families get them from a file (draft_weights.h).
#pragma once

#include <memory>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/draft_model.h"
#include "model/families/gated_mlp.h"

namespace platen {

// h + mlp(norm(h)), whose result the target's head turns into a guess.
struct ResidualHeadWeights {
  std::vector<float> norm;  // [D]
  MlpWeights mlp;
};

struct ResidualHeadsConfig {
  int count = 0;
  int64_t hidden_size = 0;  // D
  int64_t inner_size = 0;
  float norm_eps = 0;
  Activation activation = Activation::kSilu;
};

// Adds the modules mtp_layers.K to the table; `heads` gets `count` empty ones.
void DescribeResidualHeads(const ResidualHeadsConfig& config,
                           std::vector<ResidualHeadWeights>& heads, ModuleTable& table);

class ResidualHeads final : public DraftHeads {
 public:
  // `weights` and `kernels` outlive the heads; the weights may be loaded after they are made.
  ResidualHeads(Activation activation, float norm_eps,
                const std::vector<ResidualHeadWeights>& weights, const KernelTable& kernels);

  int count() const override { return static_cast<int>(weights_.size()); }
  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Apply(int k, MatView x, Workspace& workspace) const override;

 private:
  const Activation activation_;
  const float norm_eps_;
  const std::vector<ResidualHeadWeights>& weights_;
  const KernelTable& kernels_;
};

}  // namespace platen
