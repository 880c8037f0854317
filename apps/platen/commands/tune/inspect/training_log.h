// What training has written of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "model/support/folder.h"

namespace platen {

struct CurvePoint {
  int64_t step = 0;
  double value = 0;
};
using Curve = std::vector<CurvePoint>;  // by step, each once

struct TrainingCurves {
  int64_t steps = 0;                 // the last; 0: there is no log
  std::vector<Curve> loss_of_draft;  // of each place of a round
  Curve tokens_per_round;            // where it was evaluated
};

// Of the folder train/. What was trained twice, after a stop, counts as it was the last time. Lines
// that are none are left out. Throws Error as ForEachLineOf.
TrainingCurves ReadTrainingLog(const Folder& train);

// At most so many points, each the mean of its neighbours.
Curve Thinned(const Curve& curve, size_t most);

}  // namespace platen
