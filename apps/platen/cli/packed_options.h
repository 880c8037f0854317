// Options of every command with a model that say where packed weights are kept, and loading a model
// with them.
#pragma once

#include <memory>
#include <string>

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "model/checkpoint/packed_paths.h"
#include "model/checkpoint/packed_weights.h"
#include "model/families/model.h"
#include "model/ops/linear.h"

namespace platen {

OptionSpec PackedOption(const std::string& group);
OptionSpec PackedDirOption(const std::string& group);

// From --packed and PackedPaths; messages go to the log.
PackingOptions PackingFrom(const Settings& settings, const std::string& model_dir,
                           Precision precision);

// The value of --draft-head that means the model's own drafts.
inline constexpr const char* kOwnDraftHead = "own";
// The file of --draft-head; without one what is installed for the model.
DraftWeightsFile DraftHeadFrom(const Settings& settings, const std::string& model_dir);

// LoadSnapshot; what is odd about the snapshot goes to the log.
Snapshot LoadSnapshotAndWarn(const std::string& model_dir);

// The snapshot in `model_dir` with the precision, kernels, attention and packed weights that the
// settings ask for. Throws what LoadSnapshot and Model throw, and Error(kUsage) for what this CPU
// cannot run.
std::unique_ptr<Model> LoadModelFrom(const Settings& settings, const std::string& model_dir);

}  // namespace platen
