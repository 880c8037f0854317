// The trace: JSON that viewers load, spans that nest, products by shape, idle workers.
#include <gtest/gtest.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "model/ops/linear.h"
#include "model/ops/parallel.h"
#include "model/support/error.h"
#include "pipeline/telemetry.h"
#include "tests/support/fake_pages.h"

namespace platen {
namespace {

using nlohmann::json;
using testing::FakeRun;
using testing::ReadFile;
using testing::TempFolder;

constexpr int kWorkers = static_cast<int>(TraceFile::Group::kWorkers);

struct Span {
  double start = 0, end = 0;
};

// Spans by track. Fails the test if the file is not what the format asks for.
std::map<std::pair<int, int>, std::vector<Span>> TracksOf(const json& trace) {
  std::map<std::pair<int, int>, std::vector<Span>> tracks;
  for (const json& event : trace) {
    const std::string kind = event.at("ph");
    EXPECT_TRUE(kind == "X" || kind == "M") << event;
    EXPECT_TRUE(event.at("name").is_string() && event.at("args").is_object()) << event;
    if (kind == "M") continue;
    const double start = event.at("ts"), duration = event.at("dur");
    EXPECT_GE(duration, 0) << event;
    tracks[{event.at("pid"), event.at("tid")}].push_back({start, start + duration});
  }
  return tracks;
}

// True if of any two spans one contains the other or they are apart.
bool Nest(std::vector<Span> spans) {
  constexpr double kRounding = 0.002;  // microseconds
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<double> open;
  for (const Span& span : spans) {
    while (!open.empty() && open.back() <= span.start + kRounding) open.pop_back();
    if (!open.empty() && span.end > open.back() + kRounding) return false;
    open.push_back(span.end);
  }
  return true;
}

TEST(TraceTest, ARunsTracksNestAndHaveNames) {
  const TempFolder folder;
  folder.Write("in/a \"b\".tif", "ppppp");
  folder.Write("in/c.tif", "pfpPp");
  FakeRun run(folder);
  run.options.pipeline.threads = 3;
  run.fake.max_delay_us = 200;
  run.options.trace_path = folder / "trace.json";
  EXPECT_EQ(run.Go().trace_error, "");
  const json trace = json::parse(ReadFile(folder / "trace.json"));
  const auto tracks = TracksOf(trace);
  for (const auto& [track, spans] : tracks) {
    EXPECT_TRUE(Nest(spans)) << track.first << " " << track.second;
    const auto named = std::count_if(trace.begin(), trace.end(), [&](const json& event) {
      return event["name"] == "thread_name" && event["pid"] == track.first &&
             event["tid"] == track.second;
    });
    EXPECT_EQ(named, 1) << track.first << " " << track.second;
  }
}

TEST(TraceTest, EveryWorkerIsBusyOrIdleUntilTheEnd) {
  const TempFolder folder;
  folder.Write("in/a.tif", std::string(20, 'p'));
  FakeRun run(folder);
  run.options.pipeline.threads = 2;
  run.fake.max_delay_us = 500;
  run.options.trace_path = folder / "trace.json";
  run.Go();
  const auto tracks = TracksOf(json::parse(ReadFile(folder / "trace.json")));
  double last = 0;
  for (const auto& [track, spans] : tracks) {
    for (const Span& span : spans) last = std::max(last, span.end);
  }
  for (int worker = 0; worker < 2; ++worker) {
    ASSERT_TRUE(tracks.contains({kWorkers, worker})) << worker;
    std::vector<Span> spans = tracks.at({kWorkers, worker});
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    double covered = 0;
    for (const Span& span : spans) {
      EXPECT_LE(span.start - covered, WorkerTrace::kShortestIdleNs / 1000.0 + 0.1)
          << "worker " << worker << " is neither busy nor idle after " << covered;
      covered = std::max(covered, span.end);
    }
    EXPECT_LE(last - covered, WorkerTrace::kShortestIdleNs / 1000.0 + 0.1) << worker;
  }
}

Linear RandomLinear(int64_t n, int64_t k, bool silu_mul) {
  Mat w(n, k);
  std::minstd_rand rng(3);
  for (float& v : w.span()) v = static_cast<float>(rng() % 100) * 0.01F;
  return silu_mul ? Linear::PackSiluMul(Precision::kF32, w.View(), {}, w.View(), {})
                  : Linear::Pack(Precision::kInt8, w.View(), {});
}

// What a worker does inside a stage, and what a viewer shows of it.
TEST(TraceTest, ProductsAppearByShapeInsideTheirStage) {
  const TempFolder folder;
  const Linear plain = RandomLinear(96, 64, false), pair = RandomLinear(32, 64, true);
  {
    Telemetry telemetry(folder / "trace.json", 1);
    tbb::task_arena arena(1);
    arena.execute([&] {
      const StageSpan span(telemetry, Stage::kPrefill, -1, "page");
      Mat x(5, 64), y(5, 96), z(5, 32);
      std::fill(x.span().begin(), x.span().end(), 1.0F);
      LinearWorkspace ws;
      plain.Apply(BestKernels(), x.View(), y.View(), ws);
      pair.Apply(BestKernels(), x.View(), z.View(), ws);
    });
    EXPECT_EQ(telemetry.FinishTrace(), "");
  }
  EXPECT_EQ(CurrentWorkObserver(), nullptr);
  const json trace = json::parse(ReadFile(folder / "trace.json"));
  std::map<std::string, json> found;
  for (const json& event : trace) {
    if (event["pid"] == kWorkers && event["ph"] == "X") found[event["name"]] = event;
  }
  ASSERT_TRUE(found.contains("gemm 5x96x64 int8") && found.contains("gemm 5x64x64 f32"))
      << trace.dump(1);
  EXPECT_EQ(found["gemm 5x96x64 int8"]["args"],
            json({{"rows", 5}, {"n", 96}, {"k", 64}, {"precision", "int8"}}));
  const json stage = found["prefill page"];
  for (const auto& [name, event] : found) {
    if (event["cat"] != "gemm") continue;
    EXPECT_GE(event["ts"].get<double>(), stage["ts"].get<double>()) << name;
    EXPECT_LE(event["ts"].get<double>() + event["dur"].get<double>(),
              stage["ts"].get<double>() + stage["dur"].get<double>() + 0.01)
        << name;
  }
}

TEST(TraceTest, HelpWithOthersLoopsShowsOnTheHelpersTrack) {
  const TempFolder folder;
  Telemetry telemetry(folder / "trace.json", 2);
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, 2);
  tbb::task_arena arena(2);
  std::array<std::thread::id, 2> threads;
  arena.execute([&] {
    const StageSpan span(telemetry, Stage::kVisionEncode, -1, "page");
    std::atomic<int> arrived = 0;
    ParallelFor(2, [&](int64_t i) {  // each waits for the other, so that two threads take part
      ++arrived;
      threads[static_cast<size_t>(i)] = std::this_thread::get_id();
      for (int j = 0; j < 1'000'000 && arrived < 2; ++j) std::this_thread::yield();
    });
  });
  EXPECT_EQ(telemetry.FinishTrace(), "");
  if (threads[0] == threads[1]) GTEST_SKIP() << "the second thread did not come";
  const json trace = json::parse(ReadFile(folder / "trace.json"));
  EXPECT_TRUE(std::any_of(trace.begin(), trace.end(), [](const json& event) {
    return event["name"] == "help" && event["pid"] == kWorkers && event["args"]["bodies"] == 1;
  })) << trace.dump(1);
}

TEST(TraceTest, ADiskThatIsFullIsReported) {
  Telemetry telemetry("/dev/full", 1);
  telemetry.BeginSpan();
  telemetry.EndSpan(Stage::kWrite, -1, "page", "{}", 0, 1);
  EXPECT_NE(telemetry.FinishTrace(), "");
  EXPECT_THROW(Telemetry("/nowhere/trace.json", 1), Error);
}

}  // namespace
}  // namespace platen
