#include "pipeline/progress.h"

namespace platen {

Progress ProgressCounters::Snapshot() const {
  Progress now;
  for (const auto field : {&Progress::documents_total,
                           &Progress::documents_opened,
                           &Progress::documents_read,
                           &Progress::documents_failed,
                           &Progress::documents_skipped,
                           &Progress::pages_opened,
                           &Progress::pages_admitted,
                           &Progress::pages_read,
                           &Progress::pages_failed,
                           &Progress::pages_doubtful,
                           &Progress::pages_from_text_layer,
                           &Progress::pages_resumed,
                           &Progress::pages_skipped,
                           &Progress::failures,
                           &Progress::regions,
                           &Progress::regions_failed,
                           &Progress::regions_read_again,
                           &Progress::regions_retried,
                           &Progress::tokens,
                           &Progress::low_confidence_lines,
                           &Progress::lines}) {
    now.*field = std::atomic_ref<int64_t>(values_.*field).load(std::memory_order_relaxed);
  }
  return now;
}

}  // namespace platen
