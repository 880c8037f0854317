// platen: one program, several commands.

#include <signal.h>

#include <cstdio>
#include <new>

#include "apps/platen/cli/exit_codes.h"
#include "apps/platen/cli/log.h"
#include "apps/platen/cli/thread_limit.h"
#include "apps/platen/commands/commands.h"
#include "model/support/error.h"

namespace platen {

namespace {

int Dispatch(const Words& words) {
  if (words.empty()) {
    RunHelpCommand({});
    return kExitUsage;
  }
  const std::string& name = words[0];
  if (name == "--version" || name == "version") {
    std::printf("platen %s\n", PLATEN_VERSION);
    return kExitDone;
  }
  if (name == "--help" || name == "-h") return RunHelpCommand({});
  const Command* command = FindCommand(name);
  if (command == nullptr) return RunHelpCommand({name});  // says what may have been meant
  return command->run({words.begin() + 1, words.end()});
}

int ExitCodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kInput:
      return kExitSomeFailed;
    case ErrorKind::kModel:
    case ErrorKind::kEnvironment:
      return kExitEnvironment;
  }
  return kExitEnvironment;
}

int Main(int argc, char** argv) {
  try {
    return Dispatch(Words(argv + 1, argv + argc));
  } catch (const Error& e) {
    Log(LogLevel::kError, e.what());
    return ExitCodeOf(e.kind());
  } catch (const std::bad_alloc&) {
    Log(LogLevel::kError, "not enough memory; fewer --slots or a smaller --kv-cache-mib need less");
  } catch (const std::exception& e) {
    Log(LogLevel::kError, e.what());
  }
  return kExitEnvironment;
}

}  // namespace
}  // namespace platen

int main(int argc, char** argv) {
  // Past the limit of `ulimit -f` a write fails then, with its reason, instead of ending the
  // process.
  ::signal(SIGXFSZ, SIG_IGN);
  platen::EndBlasThreads();
  return platen::Main(argc, argv);
}
