#include "pipeline/page_pipeline.h"

#include <tbb/task_arena.h>

#include "pipeline/graph.h"
#include "pipeline/recognition_stages.h"

namespace platen {

void RunPages(const PipelineOptions& options, const PageTools& tools, Recognizer& recognizer,
              Telemetry& telemetry, ProgressCounters& counters, PageSource& source,
              PageSink& sink) {
  PageStages page(tools, options.reading, recognizer, telemetry);
  VisionStage vision(recognizer, telemetry, counters, options.patch_budget);
  PrefillStage prefill(recognizer, telemetry, counters, options.row_budget);
  DecodeStage decode(recognizer, telemetry, counters);
  tbb::task_arena arena(options.threads);
  arena.execute([&] {
    RunGraph({source, page, vision, prefill, decode, sink},
             {options.slots, options.pixels, tools.pages_in_turn});
  });
}

}  // namespace platen
