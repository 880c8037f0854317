#include "pipeline/run.h"

#include <tbb/task_arena.h>

#include "model/support/clock.h"
#include "pipeline/graph.h"

namespace platen {

RunReport Run(const RunOptions& options, const RunTools& tools,
              std::vector<InputDocument> documents) {
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  const double start_children_s = ChildrenCpuSeconds();

  Ledger ledger(options.output_dir, options.identity);
  ledger.RecordRun(options.version, options.model_id);
  Telemetry telemetry(options.trace_path, options.threads);
  ProgressCounters counters(tools.observer);
  PageSource source(std::move(documents), options.source, ledger, tools.open, tools.interrupted,
                    counters);
  PageStages page(tools.page, options.page, tools.recognizer, telemetry);
  VisionStage vision(tools.recognizer, telemetry, counters, options.patch_budget);
  PrefillStage prefill(tools.recognizer, telemetry, counters, options.row_budget);
  DecodeStage decode(tools.recognizer, telemetry, counters);
  DocumentSink sink(SinkOptions{options.settings}, ledger, counters, telemetry);

  tbb::task_arena arena(options.threads);
  arena.execute([&] { RunGraph({source, page, vision, prefill, decode, sink}, options.slots); });

  RunReport report;
  report.trace_error = telemetry.FinishTrace();
  report.totals = counters.Snapshot();
  report.interrupted = tools.interrupted();
  report.failures = sink.failures();
  report.failures_not_listed = sink.failures_not_listed();
  for (int i = 0; i < kNumStages; ++i) {
    report.stages[static_cast<size_t>(i)] = telemetry.Time(static_cast<Stage>(i));
  }
  report.engine = tools.recognizer.stats();
  report.wall_s = SecondsSince(start_ns);
  report.cpu_s = ProcessCpuSeconds() - start_cpu_s;
  report.children_cpu_s = ChildrenCpuSeconds() - start_children_s;
  report.peak_memory_bytes = PeakMemoryBytes();
  return report;
}

}  // namespace platen
