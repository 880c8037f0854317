// Feed-forward networks of a layer: one for all rows, or experts of which each row has some.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/families/minillm/modules.h"
#include "model/families/minillm/router.h"
#include "model/ops/observer.h"
#include "model/ops/tensor.h"

namespace platen::minillm {

// Buffers of one call; grow to the largest batch and stay.
struct MlpWorkspace : GatedMlpWorkspace {
  Mat router;  // [R, E]
  std::vector<ExpertChoice> chosen;
  struct Place {  // of one row at one of its experts
    int64_t row = 0;
    float weight = 0;
  };
  std::vector<Place> places;         // [R K], by expert, then by row
  std::vector<int64_t> first_place;  // [E + 1]
  std::vector<int> experts;          // [R K], by row
  std::vector<float> weights;        // [R K]
  Mat gathered;                      // [R, D], of which one expert's rows are used at a time
  Mat results;                       // likewise
};

// y [R, D] = sum over a row's experts, ascending, of weight * expert(x), then the shared expert.
// Only experts that some row has are computed. `layer`: for the observer's names.
class Experts {
 public:
  // `kernels` outlives the object.
  Experts(const Config& config, const KernelTable& kernels)
      : router_(config.router), activation_(config.activation), kernels_(kernels) {}

  void Apply(const ExpertsWeights& w, ConstMatView x, MatView y, int layer,
             const Observer& observer, MlpWorkspace& ws, LinearWorkspace& linear) const;

 private:
  void Route(const ExpertsWeights& w, ConstMatView x, int layer, const Observer& observer,
             MlpWorkspace& ws, LinearWorkspace& linear) const;
  void SortByExpert(MlpWorkspace& ws) const;

  const RouterConfig router_;
  const Activation activation_;
  const KernelTable& kernels_;
};

}  // namespace platen::minillm
