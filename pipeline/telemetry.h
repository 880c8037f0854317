// What a run measures about itself: time per stage, counts, and on request a trace.
//
// Time of a stage is taken around its body on the thread that runs it: wall time, and CPU time of
// that thread alone. Work that other threads take over from inside a body (tiles of matrix products)
// is in nobody's stage; the CPU time of the whole process is measured beside it. With one thread the
// stages add up to the whole.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>

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

// A file in the Chrome trace format (chrome://tracing, ui.perfetto.dev): one complete event per
// span. Each stage is a track of its own; stages that work on several pages at once have one track
// per page slot. Written as it comes, so a trace of a long run takes no memory. Thread-safe.
class TraceFile {
 public:
  // Throws Error(kEnvironment).
  explicit TraceFile(const std::string& path);
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;
  ~TraceFile();  // completes the JSON

  // `track` < 0: the stage's own track. `label` and `details` (a JSON object) are shown.
  void Span(Stage stage, int track, const std::string& label, const std::string& details,
            int64_t start_ns, int64_t end_ns);

 private:
  void Write(const std::string& event);

  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  bool first_ = true;
  int64_t origin_ns_ = 0;
};

struct StageTime {
  int64_t calls = 0;
  double wall_s = 0;
  double thread_cpu_s = 0;
};

// Thread-safe.
class Telemetry {
 public:
  // Empty path: no trace.
  explicit Telemetry(const std::string& trace_path = "");

  void Add(Stage stage, int64_t wall_ns, int64_t cpu_ns);
  StageTime Time(Stage stage) const;
  TraceFile* trace() const { return trace_.get(); }

 private:
  struct Sums {
    std::atomic<int64_t> calls{0}, wall_ns{0}, cpu_ns{0};
  };
  std::array<Sums, kNumStages> sums_;
  std::unique_ptr<TraceFile> trace_;
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
  bool traced() const { return telemetry_.trace() != nullptr; }

 private:
  Telemetry& telemetry_;
  Stage stage_;
  int track_;
  std::string label_;
  std::string details_ = "{}";
  int64_t wall_start_ns_;
  int64_t cpu_start_ns_;
};

int64_t WallNowNs();        // monotonic
int64_t ThreadCpuNowNs();   // of the calling thread
double ProcessCpuSeconds(); // user + system, of all threads; not of child processes
double ChildrenCpuSeconds();  // of child processes that have ended
int64_t PeakMemoryBytes();  // of this process

}  // namespace platen
