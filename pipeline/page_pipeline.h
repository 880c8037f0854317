// The stages behind one recogniser and the threads that run them: between any two ends.
#pragma once

#include "pipeline/ends.h"
#include "pipeline/memory_plan.h"
#include "pipeline/page_stages.h"
#include "pipeline/progress.h"
#include "pipeline/recognizer.h"
#include "pipeline/telemetry.h"

namespace platen {

struct PipelineOptions {
  ReadingConfig reading;                // what the model was trained to read
  int threads = 1;                      // that work on the run; the caller's is one of them
  int slots = 4;                        // pages in memory
  int64_t pixels = 4 * kPixelsOfASlot;  // of them, decoded: a page that is larger than a slot's
                                        // share takes the room of several
  int patch_budget = 2400;              // rows of a vision batch
  int row_budget = 2400;                // rows of a prefill batch
};

// Reads the source's pages into the sink; see RunGraph. Everything passed by reference outlives the
// call; `recognizer` serves one call at a time.
void RunPages(const PipelineOptions& options, const PageTools& tools, Recognizer& recognizer,
              Telemetry& telemetry, ProgressCounters& counters, PageSource& source, PageSink& sink);

}  // namespace platen
