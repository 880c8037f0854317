// What each worker thread did when: stages, products by shape, help with others' loops, idleness.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/ops/work_observer.h"
#include "pipeline/trace_file.h"

namespace platen {

// A worker is a place in the arena of a run (0 is the thread that started it). Its track shows the
// stages it ran with the products inside ("gemm ROWSxNxK"), its part in loops of other threads
// ("help"), and "idle" for gaps of at least kShortestIdleNs between them. Watches the pool from
// construction to destruction. All members but the constructor are called by the workers
// themselves.
class WorkerTrace : public WorkObserver {
 public:
  static constexpr int64_t kShortestIdleNs = 20'000;

  WorkerTrace(TraceFile& file, int threads);
  WorkerTrace(const WorkerTrace&) = delete;
  WorkerTrace& operator=(const WorkerTrace&) = delete;
  // Writes what is still open; no work may run.
  ~WorkerTrace() override;

  void BeginStage();
  void EndStage(const TraceFile::Span& span);
  void OnGemm(const GemmCall& call, int64_t start_ns, int64_t end_ns) override;
  void OnLoopBody(uint64_t loop, int64_t start_ns, int64_t end_ns) override;

 private:
  struct alignas(64) Worker {
    int index = 0;
    int open_stages = 0;
    int64_t busy_until_ns = 0;
    uint64_t loop = 0;  // it has helped with last; 0: written
    int64_t bodies = 0;
    int64_t loop_start_ns = 0;
    int64_t loop_end_ns = 0;
  };
  Worker* Me();  // nullptr on a thread that is not in the arena
  void AddBusy(Worker& worker, const TraceFile::Span& span);
  void AddIdle(Worker& worker, int64_t until_ns);
  void CloseLoop(Worker& worker);

  TraceFile& file_;
  std::vector<Worker> workers_;
};

}  // namespace platen
