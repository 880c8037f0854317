// The one flow graph: how pages move through the stages.
#pragma once

#include "pipeline/ends.h"
#include "pipeline/page_stages.h"
#include "pipeline/recognition_stages.h"

namespace platen {

struct GraphStages {
  PageSource& source;
  PageStages& page;
  VisionStage& vision;
  PrefillStage& prefill;
  DecodeStage& decode;
  PageSink& sink;
};

struct GraphLimits {
  int slots = 1;                 // pages between source and writer at any time, >= 1
  int64_t pixels = 0;            // of decoded pages at any time, or one page (pixel_gate.h)
  bool layouts_in_turn = false;  // one page at a time is laid out (LayoutDetector)
};

// Runs every page of the source through the stages and returns when the source has ended and the
// last page is written. The calling thread works too, and sleeps while the source has nothing and
// nothing is in flight: the graph uses the threads of the arena it is called in, and starts none of
// its own.
//
// An exception out of a stage (a full disk, a bug) ends the run and is thrown here, when no body
// runs any more; pages in flight are dropped then, to be read again by the next run.
void RunGraph(const GraphStages& stages, const GraphLimits& limits);

}  // namespace platen
