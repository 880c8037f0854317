#include "pipeline/telemetry.h"

#include <sys/resource.h>
#include <time.h>

#include "model/support/clock.h"

namespace platen {
namespace {

int64_t ReadClock(clockid_t clock) {
  timespec now = {};
  ::clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

double CpuSeconds(int who) {
  rusage usage = {};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

constexpr int kTracksPerStage = 1000;

}  // namespace

const char* StageName(Stage stage) {
  static constexpr std::array<const char*, kNumStages> kNames = {
      "decode_image",       "layout",   "preprocess", "vision_encode", "prefill",
      "speculative_decode", "assemble", "write"};
  return kNames[static_cast<size_t>(stage)];
}

Telemetry::Telemetry(const std::string& trace_path, int threads) {
  if (trace_path.empty()) return;
  trace_ = std::make_unique<TraceFile>(trace_path);
  workers_ = std::make_unique<WorkerTrace>(*trace_, threads);
}

void Telemetry::BeginSpan() {
  if (workers_) workers_->BeginStage();
}

void Telemetry::EndSpan(Stage stage, int track, const std::string& label,
                        const std::string& details, int64_t start_ns, int64_t end_ns) {
  if (!trace_) return;
  const std::string name = StageName(stage);
  const TraceFile::Track place = {TraceFile::Group::kStages,
                                  static_cast<int>(stage) * kTracksPerStage + track + 1,
                                  track < 0 ? name : name + ", slot " + std::to_string(track)};
  trace_->Add(place, {label, StageName(stage), details, start_ns, end_ns});
  if (workers_) {
    workers_->EndStage({name + " " + label, "stage", details, start_ns, end_ns});
  }
}

std::string Telemetry::FinishTrace() {
  workers_.reset();
  return trace_ ? trace_->Close() : "";
}

void Telemetry::Add(Stage stage, int64_t wall_ns, int64_t cpu_ns) {
  Sums& sums = sums_[static_cast<size_t>(stage)];
  sums.calls += 1;
  sums.wall_ns += wall_ns;
  sums.cpu_ns += cpu_ns;
}

StageTime Telemetry::Time(Stage stage) const {
  const Sums& sums = sums_[static_cast<size_t>(stage)];
  return {sums.calls, static_cast<double>(sums.wall_ns) * 1e-9,
          static_cast<double>(sums.cpu_ns) * 1e-9};
}

StageSpan::StageSpan(Telemetry& telemetry, Stage stage, int track, std::string label)
    : telemetry_(telemetry),
      stage_(stage),
      track_(track),
      label_(std::move(label)),
      wall_start_ns_(MonotonicNs()),
      cpu_start_ns_(ThreadCpuNowNs()) {
  telemetry_.BeginSpan();
}

StageSpan::~StageSpan() {
  const int64_t end_ns = MonotonicNs();
  telemetry_.Add(stage_, end_ns - wall_start_ns_, ThreadCpuNowNs() - cpu_start_ns_);
  if (traced()) {
    telemetry_.EndSpan(stage_, track_, label_, details_, wall_start_ns_, end_ns);
  }
}

int64_t ThreadCpuNowNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }
double ProcessCpuSeconds() { return CpuSeconds(RUSAGE_SELF); }
double ChildrenCpuSeconds() { return CpuSeconds(RUSAGE_CHILDREN); }

int64_t PeakMemoryBytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace platen
