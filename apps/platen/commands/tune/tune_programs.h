// What platen-tune does. Each takes the settings of its words and returns an exit code.
#pragma once

#include "apps/platen/cli/settings.h"

namespace platen {

int RunTrain(const Settings& settings);
int RunEvaluate(const Settings& settings);
int RunInspect(const Settings& settings);
int RunInstall(const Settings& settings);

}  // namespace platen
