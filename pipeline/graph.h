// The one flow graph: how pages move through the stages.
#pragma once

#include "pipeline/document_sink.h"
#include "pipeline/page_source.h"
#include "pipeline/page_stages.h"
#include "pipeline/recognition_stages.h"

namespace platen {

struct GraphStages {
  PageSource& source;
  PageStages& page;
  VisionStage& vision;
  PrefillStage& prefill;
  DecodeStage& decode;
  DocumentSink& sink;
};

// Runs every page of the source through the stages and returns when the last one is written. At most
// `num_slots` (>= 1) pages are between source and writer at any time. The calling thread works too:
// the graph uses the threads of the arena it is called in, and starts none of its own.
//
// An exception that escapes a stage (a full disk, a bug) cancels the graph and is thrown here; pages
// in flight are dropped then, to be read again by the next run.
void RunGraph(const GraphStages& stages, int num_slots);

}  // namespace platen
