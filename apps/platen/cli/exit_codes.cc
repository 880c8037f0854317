#include "apps/platen/cli/exit_codes.h"

#include <signal.h>

#include <new>

#include "apps/platen/cli/log.h"
#include "model/support/error.h"

namespace platen {
namespace {

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

}  // namespace

const std::vector<Meaning>& CommonExitCodes() {
  static const std::vector<Meaning> codes = {
      {"0", "every document is read, now or before"},
      {"1", "finished, but a page or document failed, or a format was found that is not read"},
      {"2",
       "wrong options or configuration, a named input that does not exist, or no document at "
       "all"},
      {"3", "model, disk, memory or network"},
      {"130", "interrupted: the same command continues"}};
  return codes;
}

int RunReporting(const std::function<int()>& work) {
  // Past the limit of `ulimit -f` a write fails then, with its reason, instead of ending the
  // process.
  ::signal(SIGXFSZ, SIG_IGN);
  try {
    return work();
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

}  // namespace platen
