// What a run measures about itself: time per stage, counts, and on request a trace.
//
// Time of a stage is taken around its body on the thread that runs it: wall time, and CPU time of
// that thread alone. Work that other threads take over from inside a body (tiles of matrix
// products) is in nobody's stage; the CPU time of the whole process is measured beside it. With one
// thread the stages add up to the whole.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/trace_file.h"
#include "pipeline/worker_trace.h"

namespace platen {

enum class Stage {
  kDecodeImage,
  kLayout,
  kPreprocess,
  kVisionEncode,
  kPrefill,
  kSpeculativeDecode,
  kAssemble,
  kWrite,
};
inline constexpr int kNumStages = 8;
const char* StageName(Stage stage);  // "decode_image", ...

struct StageTime {
  int64_t calls = 0;
  double wall_s = 0;
  double thread_cpu_s = 0;
};

// Thread-safe.
class Telemetry {
 public:
  // Empty path: no trace. A trace shows every stage, with one track for each page slot where
  // stages work on several pages at once, and the `threads` workers of the arena. Throws
  // Error(kEnvironment) if the file cannot be made.
  explicit Telemetry(const std::string& trace_path = "", int threads = 1);

  void Add(Stage stage, int64_t wall_ns, int64_t cpu_ns);
  StageTime Time(Stage stage) const;

  bool traced() const { return trace_ != nullptr; }
  void BeginSpan();
  // `track` < 0: the stage's own track. `label` and `details` (a JSON object) are shown.
  void EndSpan(Stage stage, int track, const std::string& label, const std::string& details,
               int64_t start_ns, int64_t end_ns);

  // Completes the trace, if there is one; no stage may run. Returns why the file is not complete,
  // in words; empty if it is.
  std::string FinishTrace();

 private:
  struct Sums {
    std::atomic<int64_t> calls{0}, wall_ns{0}, cpu_ns{0};
  };
  std::array<Sums, kNumStages> sums_;
  std::unique_ptr<TraceFile> trace_;
  std::unique_ptr<WorkerTrace> workers_;
};

// Measures from construction to destruction.
class StageSpan {
 public:
  StageSpan(Telemetry& telemetry, Stage stage, int track, std::string label);
  StageSpan(const StageSpan&) = delete;
  StageSpan& operator=(const StageSpan&) = delete;
  ~StageSpan();

  // A JSON object shown with the span; kept only when there is a trace.
  void SetDetails(const std::string& details) { details_ = details; }
  bool traced() const { return telemetry_.traced(); }

 private:
  Telemetry& telemetry_;
  Stage stage_;
  int track_;
  std::string label_;
  std::string details_ = "{}";
  int64_t wall_start_ns_;
  int64_t cpu_start_ns_;
};

int64_t ThreadCpuNowNs();     // of the calling thread
double ProcessCpuSeconds();   // user + system, of all threads; not of child processes
double ChildrenCpuSeconds();  // of child processes that have ended
int64_t PeakMemoryBytes();    // of this process

}  // namespace platen
