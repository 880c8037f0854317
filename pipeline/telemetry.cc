#include "pipeline/telemetry.h"

#include <sys/resource.h>
#include <time.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "model/support/error.h"

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
      "decode_image", "layout",   "preprocess",         "vision_encode",
      "prefill",      "speculative_decode", "assemble", "write"};
  return kNames[static_cast<size_t>(stage)];
}

TraceFile::TraceFile(const std::string& path) : origin_ns_(WallNowNs()) {
  file_ = std::fopen(path.c_str(), "we");
  if (file_ == nullptr) {
    throw Error(ErrorKind::kEnvironment, {path, ""},
                "cannot write the trace: " + std::generic_category().message(errno));
  }
  std::fputs("[", file_);
  for (int stage = 0; stage < kNumStages; ++stage) {
    const nlohmann::json name = {
        {"ph", "M"},
        {"name", "thread_name"},
        {"pid", 1},
        {"tid", stage * kTracksPerStage},
        {"args", {{"name", StageName(static_cast<Stage>(stage))}}}};
    Write(name.dump());
  }
}

TraceFile::~TraceFile() {
  std::fputs("\n]\n", file_);
  std::fclose(file_);
}

void TraceFile::Span(Stage stage, int track, const std::string& label, const std::string& details,
                     int64_t start_ns, int64_t end_ns) {
  nlohmann::json event = {{"ph", "X"},
                          {"name", label},
                          {"cat", StageName(stage)},
                          {"pid", 1},
                          {"tid", static_cast<int>(stage) * kTracksPerStage + track + 1},
                          {"ts", static_cast<double>(start_ns - origin_ns_) / 1000.0},
                          {"dur", static_cast<double>(end_ns - start_ns) / 1000.0}};
  event["args"] = nlohmann::json::parse(details, nullptr, false);
  const std::lock_guard lock(mutex_);
  Write(event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void TraceFile::Write(const std::string& event) {
  std::fputs(first_ ? "\n" : ",\n", file_);
  first_ = false;
  std::fputs(event.c_str(), file_);
}

Telemetry::Telemetry(const std::string& trace_path) {
  if (!trace_path.empty()) trace_ = std::make_unique<TraceFile>(trace_path);
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
      wall_start_ns_(WallNowNs()),
      cpu_start_ns_(ThreadCpuNowNs()) {}

StageSpan::~StageSpan() {
  const int64_t end_ns = WallNowNs();
  telemetry_.Add(stage_, end_ns - wall_start_ns_, ThreadCpuNowNs() - cpu_start_ns_);
  if (traced()) telemetry_.trace()->Span(stage_, track_, label_, details_, wall_start_ns_, end_ns);
}

int64_t WallNowNs() { return ReadClock(CLOCK_MONOTONIC); }
int64_t ThreadCpuNowNs() { return ReadClock(CLOCK_THREAD_CPUTIME_ID); }
double ProcessCpuSeconds() { return CpuSeconds(RUSAGE_SELF); }
double ChildrenCpuSeconds() { return CpuSeconds(RUSAGE_CHILDREN); }

int64_t PeakMemoryBytes() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace platen
