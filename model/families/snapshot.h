// A model folder in Hugging Face layout, loaded and checked as a whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/module_table.h"
#include "model/families/architecture.h"
#include "model/families/reading_config.h"
#include "model/families/registry.h"
#include "model/support/error.h"
#include "model/tokenizer/tokenizer.h"

namespace platen {

// Immutable after LoadSnapshot. Everything that reads weights views `checkpoint`.
struct Snapshot {
  std::string dir;
  std::unique_ptr<Architecture> architecture;  // settled by `checkpoint`
  ReadingConfig reading;
  QuantizationPlan quantization;  // every pattern names a linear
  Tokenizer tokenizer;
  Checkpoint checkpoint;
  std::vector<std::string> warnings;  // oddities that do not hinder, for the log

  // The architecture's modules with this snapshot's group sizes.
  ModuleTable Modules() const;
};

// Disagreements between the token ids of the config files and the tokenizer; empty if none.
std::vector<Error> CheckTokens(const Architecture& architecture, const Tokenizer& tokenizer,
                               const std::string& dir);

// Lets the checkpoint settle the architecture, then checks that the quantization plan names linears
// of it. Returns what to tell the user, as Architecture::Settle does; throws Error(kModel).
std::string SettleSnapshot(const Checkpoint& checkpoint, const QuantizationPlan& plan,
                           const std::string& dir, Architecture& architecture);

// Reads the config files, the tokenizer and the checkpoint and checks them against each other:
// required tensors present with the expected shape, a float dtype; special token ids equal in
// config, generation config and tokenizer. Weights are not read: WidenToF32 refuses NaN later.
// Throws Error(kModel) naming file and field or tensor.
Snapshot LoadSnapshot(const std::string& dir,
                      const FamilyRegistry& families = FamilyRegistry::BuiltIn());

}  // namespace platen
