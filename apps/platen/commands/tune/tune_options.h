// The options of platen tune-mtp.
#pragma once

#include "apps/platen/cli/option_table.h"

namespace platen {

const OptionTable& TuneRecordOptions();
const OptionTable& TuneTrainOptions();
const OptionTable& TuneEvaluateOptions();
const OptionTable& TuneInspectOptions();
const OptionTable& TuneInstallOptions();

}  // namespace platen
