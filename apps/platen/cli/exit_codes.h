// Exit codes of every subcommand.
#pragma once

#include <functional>
#include <vector>

#include "apps/platen/cli/command_spec.h"

namespace platen {

enum ExitCode {
  kExitDone = 0,        // every document is read, now or before
  kExitSomeFailed = 1,  // finished, but a page or document failed, or is of a format not read
  kExitUsage = 2,       // command line, configuration, a named input that is not there, no document
  kExitEnvironment = 3,   // model, disk, memory
  kExitInterrupted = 130  // drained; the same command continues
};

// Their meanings, as help shows them.
const std::vector<Meaning>& CommonExitCodes();

// What a program's main does around its work: the exit code that `work` returns, or that of what it
// throws, with a message on standard error.
int RunReporting(const std::function<int()>& work);

}  // namespace platen
