// One of the two that `platen compare` compares: a model with what it needs to read pages.
#pragma once

#include <memory>

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/compare/compare_options.h"
#include "apps/platen/commands/compare/compare_report.h"
#include "apps/platen/commands/compare/page_walk.h"
#include "model/checkpoint/quantization_plan.h"
#include "stages/page_reader.h"

namespace platen {

struct Side {
  std::unique_ptr<Model> model;
  std::unique_ptr<PageReader> reader;
  SideReport report;  // with what reading has cost so far

  PageReading Read(const WalkedPage& page);
};

// `plan`: group sizes in place of the snapshot's own. Throws Error(kModel).
Side LoadSide(const Settings& settings, const CompareSide& chosen,
              const QuantizationPlan* plan = nullptr);

}  // namespace platen
