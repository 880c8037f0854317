#include "pipeline/run.h"

#include "model/support/clock.h"
#include "model/support/display_text.h"
#include "model/support/error.h"

namespace platen {

namespace {

bool WasReadAs(const Ledger& ledger, const InputDocument& document, const std::string& output) {
  try {
    const DocumentRecord* record = ledger.Find(ledger.KeyOf(document, output));
    return record != nullptr && record->failed == 0;
  } catch (const Error&) {  // a file that has gone is the source's to report
    return false;
  }
}

// Version 0.1 mirrored more of a relative path. Reading everything again beside what is there must
// be somebody's decision.
void RefuseRenamed(const Ledger& ledger, const std::vector<InputDocument>& documents) {
  int64_t count = 0;
  const InputDocument* first = nullptr;
  for (const InputDocument& document : documents) {
    const std::string& former = document.former_output;
    if (!document.error.empty() || former.empty() || !WasReadAs(ledger, document, former)) continue;
    ++count;
    if (first == nullptr) first = &document;
  }
  if (first == nullptr) return;
  throw Error(ErrorKind::kUsage, {DisplayName(ledger.root().path()), ""},
              std::to_string(count) + " of these documents " + (count == 1 ? "was" : "were") +
                  " read by platen 0.1, which named outputs by more of the path (" +
                  DisplayName(first->former_output) + ", now " + DisplayName(first->output) +
                  "). To go on with the old names add --input-root . ; to read them again under "
                  "the new names choose another folder");
}

}  // namespace

RunReport Run(const RunOptions& options, const RunTools& tools, Ledger& ledger,
              std::vector<InputDocument> documents) {
  RefuseRenamed(ledger, documents);
  const int64_t start_ns = MonotonicNs();
  const double start_cpu_s = ProcessCpuSeconds();
  const double start_children_s = ChildrenCpuSeconds();

  ledger.RecordRun(options.version, options.model_id);
  Telemetry telemetry(options.trace_path, options.pipeline.threads);
  ProgressCounters counters(tools.observer);
  BatchSource source(std::move(documents), options.source, ledger, tools.open, tools.interrupted,
                     counters);
  BatchSink sink(SinkOptions{options.render, options.images, options.settings}, ledger, counters,
                 telemetry, tools.sink_observers);

  RunPages(options.pipeline, tools.page, tools.recognizer, telemetry, counters, source, sink);
  sink.Finish();

  RunReport report;
  report.trace_error = telemetry.FinishTrace();
  report.totals = counters.Snapshot();
  report.interrupted = tools.interrupted();
  report.failures = sink.failures().first();
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
