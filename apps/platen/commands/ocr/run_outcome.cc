#include "apps/platen/commands/ocr/run_outcome.h"

#include "apps/platen/cli/exit_codes.h"

namespace platen {
namespace {

bool HasFailures(const RunReport& report) {
  return report.totals.pages_failed > 0 || report.totals.documents_failed > 0;
}

}  // namespace

int ExitCodeOf(const RunReport& report, bool fail_on_doubtful) {
  if (report.interrupted) return kExitInterrupted;
  const bool doubtful = fail_on_doubtful && report.totals.pages_doubtful > 0;
  return HasFailures(report) || doubtful ? kExitSomeFailed : kExitDone;
}

const char* ResultName(const RunReport& report, int exit_code, bool by_deadline) {
  if (exit_code == kExitInterrupted) return by_deadline ? "deadline" : "interrupted";
  if (HasFailures(report)) return "some pages failed";
  if (exit_code != kExitDone) return "some pages are doubtful";
  return report.reached_max_pages ? "page limit" : "done";
}

}  // namespace platen
