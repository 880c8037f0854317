// Options that the commands with a model share: model, precision, attention, kernels, threads.
#pragma once

#include "apps/platen/cli/option_table.h"
#include "apps/platen/cli/settings.h"
#include "model/families/layout_model.h"
#include "model/families/vision_model.h"
#include "model/kernels/kernels.h"
#include "model/ops/linear.h"

namespace platen {

OptionSpec ModelOption(const std::string& group);
OptionSpec PrecisionOption(const std::string& group);
OptionSpec AttentionOption(const std::string& group);
OptionSpec DraftHeadOption(const std::string& group);
OptionSpec LayoutModelOption(const std::string& group);
OptionSpec BoxRulesOption(const std::string& group);
OptionSpec IsaOption(const std::string& group);
OptionSpec ThreadsOption(const std::string& group);

// Values of those options. Throw Error(kUsage) for what this CPU cannot run.
Precision PrecisionFrom(const Settings& settings);
Precision PrecisionNamed(const std::string& name);  // "auto", "f32" or "int8"
// "auto" follows the precision (AttentionFor).
VisionAttention AttentionNamed(const std::string& name, Precision precision);
BoxRules BoxRulesFrom(const Settings& settings);
const KernelTable& KernelsFrom(const Settings& settings);
int ThreadsFrom(const Settings& settings);

}  // namespace platen
