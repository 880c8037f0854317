// Operands of kernel tests and the tables to run them on.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "model/kernels/kernels.h"

namespace platen {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline std::vector<const KernelTable*> Tables() {
  std::vector<const KernelTable*> tables;
  for (const char* name : kKernelNames) {
    if (const KernelTable* table = FindKernels(name)) tables.push_back(table);
  }
  return tables;
}

// `n` random values after `misalign` unused ones; NaN before and after, so that a read outside
// shows in the result and a write outside shows in the frame.
class Framed {
 public:
  Framed(std::mt19937& rng, size_t n, size_t misalign, float deviation = 1.0F)
      : values_(n + misalign + kFrame, kNan), first_(misalign), size_(n) {
    std::normal_distribution<float> normal(0.0F, deviation);
    for (size_t i = 0; i < n; ++i) values_[first_ + i] = normal(rng);
  }
  float* data() { return values_.data() + first_; }
  const float* data() const { return values_.data() + first_; }
  float& operator[](size_t i) { return values_[first_ + i]; }
  size_t size() const { return size_; }
  bool FrameUntouched() const {
    for (size_t i = 0; i < values_.size(); ++i) {
      if ((i < first_ || i >= first_ + size_) && !std::isnan(values_[i])) return false;
    }
    return true;
  }
  bool SameBits(const Framed& other) const {
    return std::memcmp(data(), other.data(), size_ * sizeof(float)) == 0;
  }

 private:
  static constexpr size_t kFrame = 40;
  std::vector<float> values_;
  size_t first_;
  size_t size_;
};

}  // namespace platen
