#include "pipeline/run.h"

#include "model/support/clock.h"

namespace platen {

RunReport Run(const RunOptions& options, const RunTools& tools, Ledger& ledger,
              DocumentList documents) {
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  const double start_children_s = ChildrenCpuSeconds();

  ledger.RecordRun(options.version, options.model_id);
  Telemetry telemetry(options.trace_path, options.pipeline.threads);
  ProgressCounters counters(tools.observer);
  KeysInFlight keys;
  BatchSource source(std::move(documents), options.source, ledger, keys, tools.open,
                     tools.interrupted, counters);
  BatchSink sink(SinkOptions{options.render, options.images}, ledger, keys, counters, telemetry,
                 tools.sink_observers);

  RunPages(options.pipeline, tools.page, tools.recognizer, telemetry, counters, source, sink);
  sink.Finish();

  RunReport report;
  report.trace_error = telemetry.FinishTrace();
  report.totals = counters.Snapshot();
  report.interrupted = tools.interrupted();
  report.reached_max_pages = source.reached_max_pages();
  report.failures = sink.failures().first();
  report.failure_counts = sink.failures().counts();
  report.failures_not_listed =
      sink.failures().count() - static_cast<int64_t>(report.failures.size());
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
