// What a finished run ends with.
#pragma once

#include "pipeline/run.h"

namespace platen {

int ExitCodeOf(const RunReport& report, bool fail_on_doubtful);

// "done", "interrupted", ...: `result` in run.json and in the ledger.
const char* ResultName(const RunReport& report, int exit_code, bool by_deadline);

}  // namespace platen
