// MiniLLM's draft heads: g becomes g + mlp(norm(g)), from head to head.
#pragma once

#include "model/families/draft_model.h"
#include "model/families/minillm/mlp.h"

namespace platen::minillm {

class ResidualHeads final : public DraftHeads {
 public:
  // `weights` and `kernels` outlive the heads; the weights may be loaded after they are made.
  ResidualHeads(const Config& config, const Weights& weights, const KernelTable& kernels);

  int count() const override { return static_cast<int>(weights_.heads.size()); }
  std::unique_ptr<Workspace> MakeWorkspace() const override;
  void Apply(int k, MatView x, Workspace& workspace) const override;

 private:
  const Activation activation_;
  const float norm_eps_;
  const Weights& weights_;
  const KernelTable& kernels_;
};

}  // namespace platen::minillm
