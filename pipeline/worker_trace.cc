#include "pipeline/worker_trace.h"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cstdio>

#include "model/support/clock.h"

namespace platen {
namespace {

TraceFile::Track TrackOf(int worker) {
  return {TraceFile::Group::kWorkers, worker, "worker " + std::to_string(worker)};
}

}  // namespace

WorkerTrace::WorkerTrace(TraceFile& file, int threads)
    : file_(file), workers_(static_cast<size_t>(threads)) {
  for (size_t i = 0; i < workers_.size(); ++i) {
    workers_[i].index = static_cast<int>(i);
    workers_[i].busy_until_ns = file.origin_ns();
  }
  SetWorkObserver(this);
}

WorkerTrace::~WorkerTrace() {
  SetWorkObserver(nullptr);
  const int64_t now_ns = MonotonicNs();
  for (Worker& worker : workers_) {
    CloseLoop(worker);
    AddIdle(worker, now_ns);
  }
}

WorkerTrace::Worker* WorkerTrace::Me() {
  const int index = tbb::this_task_arena::current_thread_index();
  if (index < 0 || static_cast<size_t>(index) >= workers_.size()) return nullptr;
  return &workers_[static_cast<size_t>(index)];
}

void WorkerTrace::BeginStage() {
  Worker* me = Me();
  if (me == nullptr) return;
  CloseLoop(*me);
  ++me->open_stages;
}

void WorkerTrace::EndStage(const TraceFile::Span& span) {
  Worker* me = Me();
  if (me == nullptr) return;
  --me->open_stages;
  AddBusy(*me, span);
}

void WorkerTrace::OnGemm(const GemmCall& call, int64_t start_ns, int64_t end_ns) {
  const Worker* me = Me();
  if (me == nullptr) return;
  char name[96], details[160];
  const auto rows = static_cast<long long>(call.rows), n = static_cast<long long>(call.n);
  const auto k = static_cast<long long>(call.k);
  std::snprintf(name, sizeof(name), "gemm %lldx%lldx%lld %s", rows, n, k, call.precision);
  std::snprintf(details, sizeof(details),
                "{\"rows\":%lld,\"n\":%lld,\"k\":%lld,\"precision\":\"%s\"}", rows, n, k,
                call.precision);
  file_.Add(TrackOf(me->index), {name, "gemm", details, start_ns, end_ns});
}

// The thread of a stage works on its own loops: its stage and products show that.
void WorkerTrace::OnLoopBody(uint64_t loop, int64_t start_ns, int64_t end_ns) {
  Worker* me = Me();
  if (me == nullptr || me->open_stages > 0) return;
  if (me->loop != loop) {
    CloseLoop(*me);
    me->loop = loop;
    me->bodies = 0;
    me->loop_start_ns = start_ns;
  }
  ++me->bodies;
  me->loop_end_ns = end_ns;
}

void WorkerTrace::CloseLoop(Worker& worker) {
  if (worker.loop == 0) return;
  worker.loop = 0;
  AddBusy(worker, {"help", "help", "{\"bodies\":" + std::to_string(worker.bodies) + "}",
                   worker.loop_start_ns, worker.loop_end_ns});
}

void WorkerTrace::AddBusy(Worker& worker, const TraceFile::Span& span) {
  if (worker.open_stages == 0) AddIdle(worker, span.start_ns);
  file_.Add(TrackOf(worker.index), span);
  worker.busy_until_ns = std::max(worker.busy_until_ns, span.end_ns);
}

void WorkerTrace::AddIdle(Worker& worker, int64_t until_ns) {
  if (until_ns - worker.busy_until_ns < kShortestIdleNs) return;
  file_.Add(TrackOf(worker.index), {"idle", "idle", "{}", worker.busy_until_ns, until_ns});
}

}  // namespace platen
