#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/kernels/gemm_schedule.h"

namespace platen {
namespace {

// One block of rows, which waits for memory the most, and two, which do if what is prefetched for
// them comes late or pushes out what they use.
constexpr int kRowCounts[] = {4, 8};
constexpr int kRows = 8;
constexpr int kPanels = 8;
constexpr int kPanelsPerJob = 4;
constexpr int kGroupSize = 256;
constexpr int kGroups = 6;
constexpr int kK = kGroups * kGroupSize;
constexpr int kPanelBytes = kK * kPanelColumns;
constexpr int kColumns = kPanels * kPanelColumns;
constexpr int kRounds = 5;

// A product to time: 768 KiB of weights.
class TestProduct {
 public:
  TestProduct() : memory_(kPanels * kPanelBytes + kLine, 1) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    weights_ = memory_.data() + (kLine - address % kLine) % kLine;
  }

  void FlushWeights() const {
#if defined(__x86_64__)
    for (ptrdiff_t i = 0; i < kPanels * kPanelBytes; i += kLine) _mm_clflush(weights_ + i);
    _mm_mfence();
#endif
  }

  void Run(const GemmSchedule& schedule, int rows) {
    for (int panel = 0; panel < kPanels; panel += kPanelsPerJob) {
      GemmS8Job job;
      job.a = a_.data();
      job.a_stride = kK;
      job.a_scales = a_scales_.data();
      job.a_corrections = a_corrections_.data();
      job.rows = rows;
      job.k_padded = kK;
      job.group_size = kGroupSize;
      job.groups = kGroups;
      job.panels = weights_ + static_cast<ptrdiff_t>(panel) * kPanelBytes;
      job.w_scales = w_scales_.data() + static_cast<ptrdiff_t>(panel) * kGroups * kPanelColumns;
      job.num_panels = kPanelsPerJob;
      job.c = c_.data() + panel * kPanelColumns;
      job.c_stride = kColumns;
      job.columns = kPanelsPerJob * kPanelColumns;
      schedule.gemm_s8(job);
    }
  }

 private:
  static constexpr ptrdiff_t kLine = 64;
  std::vector<uint8_t> memory_;
  const uint8_t* weights_ = nullptr;
  std::vector<float> w_scales_ = std::vector<float>(kGroups * kColumns, 1.0F);
  std::vector<int8_t> a_ = std::vector<int8_t>(kRows * kK, 1);
  std::vector<float> a_scales_ = std::vector<float>(kRows * kGroups, 1.0F);
  std::vector<int32_t> a_corrections_ = std::vector<int32_t>(kRows * kGroups, -128 * kGroupSize);
  std::vector<float> c_ = std::vector<float>(kRows * kColumns);
};

}  // namespace

ScheduleTimings MeasureSchedules(const GemmSchedules& schedules) {
  using Clock = std::chrono::steady_clock;
  ScheduleTimings timings(static_cast<size_t>(schedules.count));
  TestProduct product;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < schedules.count; ++i) {
      std::chrono::duration<double> seconds{};
      for (const int rows : kRowCounts) {
        product.FlushWeights();
        const Clock::time_point start = Clock::now();
        product.Run(schedules.list[i], rows);
        seconds += Clock::now() - start;
      }
      timings[static_cast<size_t>(i)].push_back(seconds.count());
    }
  }
  return timings;
}

}  // namespace platen
