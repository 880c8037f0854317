#include "apps/platen/commands/ocr/stop_request.h"

#include "apps/platen/cli/interrupt.h"
#include "apps/platen/cli/log.h"

namespace platen {

bool StopRequest::Asked() {
  if (Interrupted()) return true;
  if (!deadline_ || std::chrono::system_clock::now() < *deadline_) return by_deadline_;
  if (!by_deadline_.exchange(true)) {
    Log(LogLevel::kInfo, "the deadline has come: finishing the pages in memory");
  }
  return true;
}

}  // namespace platen
