// A whole run: documents in, outputs and a report out.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/batch_sink.h"
#include "pipeline/batch_source.h"
#include "pipeline/ledger.h"
#include "pipeline/page_pipeline.h"
#include "pipeline/progress.h"
#include "pipeline/recognizer.h"
#include "pipeline/telemetry.h"

namespace platen {

struct RunOptions {
  RenderOptions render;
  std::string images;  // folder of pictures, below the output folder; empty: none
  std::string version;
  std::string model_id;
  SourceOptions source;
  PipelineOptions pipeline;
  std::string trace_path;  // empty: none
};

// What the run works with; all outlive it.
struct RunTools {
  BatchSource::OpenReader open;
  PageTools page;
  Recognizer& recognizer;
  std::function<bool()> interrupted;    // asked before each page
  ProgressCounters::Observer observer;  // may be empty
  SinkObservers sink_observers = {};
};

struct RunReport {
  Progress totals;
  bool interrupted = false;
  bool reached_max_pages = false;  // and stopped: there is more to read
  std::vector<Failure> failures;   // the first of them; all are in OUT/failures.jsonl
  int64_t failures_not_listed = 0;
  std::map<FailureCode, int64_t> failure_counts;  // of all, by reason
  std::array<StageTime, kNumStages> stages;
  std::string trace_error;  // not empty: why the trace is not complete
  EngineStats engine;       // of this run, if the recogniser is new
  double wall_s = 0;
  double cpu_s = 0;           // of this process, all threads
  double children_cpu_s = 0;  // of child processes: PDF rendering
  int64_t peak_memory_bytes = 0;
};

// Reads the documents and writes their outputs to the ledger's folder. Returns when all is written
// or, interrupted, when the pages in flight are. Throws Error(kEnvironment) when the output folder
// or the ledger cannot be written; what is finished stays finished.
RunReport Run(const RunOptions& options, const RunTools& tools, Ledger& ledger,
              DocumentList documents);

}  // namespace platen
