// platen ocr --dry-run: what a run would do, without doing any of it.
#pragma once

#include "apps/platen/cli/settings.h"
#include "apps/platen/commands/ocr/job.h"

namespace platen {

// Prints it, and returns the exit code. Loads the model only to tell what is finished. Throws
// Error.
int ShowPlan(const Settings& settings, const Job& job);

}  // namespace platen
