#include "model/kernels/s8_order.h"

#include <emmintrin.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

namespace platen {
namespace {

constexpr int kRows = 4;
constexpr int kPanels = 8;
constexpr int kPanelsPerJob = 4;
constexpr int kGroupK = 256;
constexpr int kGroups = 6;
constexpr int kK = kGroups * kGroupK;
constexpr int kPanelBytes = kK * kPanelColumns;
constexpr int kColumns = kPanels * kPanelColumns;
constexpr int kRounds = 3;

// Something to multiply: 768 KiB of weights.
class Product {
 public:
  Product() : room_(kPanels * kPanelBytes + kLine, 1) {
    const auto address = reinterpret_cast<uintptr_t>(room_.data());
    weights_ = room_.data() + (kLine - address % kLine) % kLine;
  }

  void LeaveCaches() const {
    for (ptrdiff_t i = 0; i < kPanels * kPanelBytes; i += kLine) _mm_clflush(weights_ + i);
    _mm_mfence();
  }

  void Run(const S8Order& order) {
    for (int panel = 0; panel < kPanels; panel += kPanelsPerJob) {
      GemmS8Job job;
      job.a = a_.data();
      job.a_stride = kK;
      job.a_scales = a_scales_.data();
      job.a_corrections = a_corrections_.data();
      job.rows = kRows;
      job.k_padded = kK;
      job.group_k = kGroupK;
      job.groups = kGroups;
      job.panels = weights_ + static_cast<ptrdiff_t>(panel) * kPanelBytes;
      job.w_scales = w_scales_.data() + static_cast<ptrdiff_t>(panel) * kGroups * kPanelColumns;
      job.num_panels = kPanelsPerJob;
      job.c = c_.data() + panel * kPanelColumns;
      job.c_stride = kColumns;
      job.columns = kPanelsPerJob * kPanelColumns;
      order.gemm_s8(job);
    }
  }

 private:
  static constexpr ptrdiff_t kLine = 64;
  std::vector<uint8_t> room_;
  const uint8_t* weights_ = nullptr;
  std::vector<float> w_scales_ = std::vector<float>(kGroups * kColumns, 1.0F);
  std::vector<int8_t> a_ = std::vector<int8_t>(kRows * kK, 1);
  std::vector<float> a_scales_ = std::vector<float>(kRows * kGroups, 1.0F);
  std::vector<int32_t> a_corrections_ = std::vector<int32_t>(kRows * kGroups, -128 * kGroupK);
  std::vector<float> c_ = std::vector<float>(kRows * kColumns);
};

}  // namespace

KernelTable WithFasterOrder(KernelTable table, const S8Order& one, const S8Order& other) {
  using Clock = std::chrono::steady_clock;
  table.s8_orders[0] = one;
  table.s8_orders[1] = other;
  Product product;
  Clock::duration best[kMaxS8Orders];
  std::fill_n(best, kMaxS8Orders, Clock::duration::max());
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kMaxS8Orders; ++i) {
      product.LeaveCaches();
      const Clock::time_point start = Clock::now();
      product.Run(table.s8_orders[i]);
      best[i] = std::min(best[i], Clock::now() - start);
    }
  }
  if (best[1] < best[0]) std::swap(table.s8_orders[0], table.s8_orders[1]);
  table.gemm_s8 = table.s8_orders[0].gemm_s8;
  table.heads_together = table.s8_orders[0].one_stream;
  return table;
}

}  // namespace platen
