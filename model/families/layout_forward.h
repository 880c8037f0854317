// One page through a layout model with everything in between visible: `platen forward`.
#pragma once

#include <string>
#include <vector>

#include "model/families/layout_model.h"

namespace platen {

struct LayoutForwardResult {
  std::vector<Detection> found;  // before the rules
  std::vector<Detection> kept;   // behind them
};

// With a dump folder, which must exist, writes the arrays and result.json that docs/FORWARD.md
// describes. Throws as LayoutModel::Detect does, and Error(kEnvironment) if the dump cannot be
// written.
LayoutForwardResult RunLayoutForward(const LayoutModel& model, const Image& page, BoxRules rules,
                                     const std::string& dump_dir);

}  // namespace platen
