// The folder of a layout model in Hugging Face layout, checked as a whole.
#pragma once

#include <memory>
#include <string>

#include "model/checkpoint/checkpoint.h"
#include "model/families/layout_model.h"
#include "model/families/registry.h"

namespace platen {

struct LayoutSnapshot {
  std::string dir;
  std::unique_ptr<LayoutArchitecture> architecture;
  Checkpoint checkpoint;
  std::string warning;  // an oddity that does not hinder, for the log; empty: none
};

// Reads config files and checkpoint and checks them against each other. Throws Error(kModel) naming
// file and field or tensor.
LayoutSnapshot LoadLayoutSnapshot(const std::string& dir,
                                  const FamilyRegistry& families = FamilyRegistry::BuiltIn());

}  // namespace platen
