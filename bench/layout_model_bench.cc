#include "bench/layout_model_bench.h"

#include <atomic>

#include "model/engine/forward.h"
#include "model/ops/work_observer.h"
#include "model/support/clock.h"
#include "pipeline/telemetry.h"

namespace platen::bench {
namespace {

constexpr int kPageWidth = 1240;
constexpr int kPageHeight = 1754;

// Counts the operations of products while it lives.
class CountedProducts : public WorkObserver {
 public:
  CountedProducts() { SetWorkObserver(this); }
  CountedProducts(const CountedProducts&) = delete;
  CountedProducts& operator=(const CountedProducts&) = delete;
  ~CountedProducts() override { SetWorkObserver(nullptr); }

  void OnGemm(const GemmCall& call, int64_t, int64_t) override {
    operations_ += 2 * call.rows * call.n * call.k;
  }
  void OnLoopBody(uint64_t, int64_t, int64_t) override {}
  double gflop() const { return static_cast<double>(operations_) * 1e-9; }

 private:
  std::atomic<int64_t> operations_ = 0;
};

}  // namespace

LayoutModelRun RunLayoutModelBench(const LayoutModel& model, const KernelTable& kernels,
                                   int repetitions) {
  const Image page = SyntheticImage(1, kPageWidth, kPageHeight);
  const auto lay_out = [&] {
    model.Apply(BoxRules::kPlaten, model.Detect(page, {}), page.width, page.height);
  };
  LayoutModelRun run;
  {
    const CountedProducts counted;
    lay_out();
    run.gflop = counted.gflop();
  }
  std::vector<Peaks> peaks = {MeasurePeaks(kernels.name, false)};
  for (int i = 0; i < repetitions; ++i) {
    const int64_t start_ns = MonotonicNs();
    const double start_core_s = ProcessCpuSeconds();
    lay_out();
    run.core_seconds.push_back(ProcessCpuSeconds() - start_core_s);
    run.seconds.push_back(SecondsSince(start_ns));
    peaks.push_back(MeasurePeaks(kernels.name, false));
  }
  run.peaks = MedianOf(peaks);
  run.share = run.gflop / run.peaks.f32_gflops / SpreadOf(run.core_seconds).median;
  return run;
}

}  // namespace platen::bench
