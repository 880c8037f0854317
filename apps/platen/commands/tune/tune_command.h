// platen tune-mtp: what its kinds are.
#pragma once

#include <vector>

#include "apps/platen/commands/commands.h"

namespace platen {

const std::vector<Command>& TuneKinds();

// Done by platen itself, as platen ocr with its records.
int RunTuneRecord(const Words& words);

const CommandSpec& TuneRecordCommand();
const CommandSpec& TuneTrainCommand();
const CommandSpec& TuneEvaluateCommand();
const CommandSpec& TuneInspectCommand();
const CommandSpec& TuneInstallCommand();

}  // namespace platen
