// Exit codes of every subcommand; documented in `platen help`.
#pragma once

namespace platen {

enum ExitCode {
  kExitDone = 0,          // all pages read
  kExitSomeFailed = 1,    // finished, some pages failed
  kExitUsage = 2,         // command line or run configuration
  kExitEnvironment = 3,   // model, disk, memory
  kExitInterrupted = 130  // drained; the same command goes on where it was
};

}  // namespace platen
