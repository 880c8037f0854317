// Row-major matrices of float: Mat owns, MatView and ConstMatView do not.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "model/support/large_memory.h"

namespace platen {

// A view of rows; `stride` is the distance between rows in elements and may exceed `cols`.
template <class T>
struct BasicMatView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t stride = 0;

  T* Row(int64_t r) const {
    assert(r >= 0 && r < rows);
    return data + r * stride;
  }
  BasicMatView Rows(int64_t first, int64_t count) const {
    assert(first >= 0 && count >= 0 && first + count <= rows);
    return {data + first * stride, count, cols, stride};
  }
  BasicMatView Columns(int64_t first, int64_t count) const {
    assert(first >= 0 && count >= 0 && first + count <= cols);
    return {data + first, rows, count, stride};
  }
  operator BasicMatView<const T>() const { return {data, rows, cols, stride}; }
};
using MatView = BasicMatView<float>;
using ConstMatView = BasicMatView<const float>;

// Owns storage (large_memory.h) that only ever grows: Resize to a smaller or equal number of
// elements does not allocate, so a workspace settles at the largest batch it has seen. Contents
// after Resize are unspecified.
class Mat {
 public:
  Mat() = default;
  Mat(int64_t rows, int64_t cols) { Resize(rows, cols); }

  void Resize(int64_t rows, int64_t cols) {
    assert(rows >= 0 && cols >= 0);
    const size_t needed = static_cast<size_t>(rows) * static_cast<size_t>(cols);
    if (needed * sizeof(float) > capacity_bytes()) {
      data_.reset();
      data_ = Memory(static_cast<float*>(AllocateLarge(needed * sizeof(float))),
                     Free{needed * sizeof(float)});
    }
    rows_ = rows;
    cols_ = cols;
  }
  // Resizes and returns the view.
  MatView Shaped(int64_t rows, int64_t cols) {
    Resize(rows, cols);
    return View();
  }

  MatView View() { return {data_.get(), rows_, cols_, cols_}; }
  ConstMatView View() const { return {data_.get(), rows_, cols_, cols_}; }
  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::span<float> span() { return {data_.get(), static_cast<size_t>(rows_ * cols_)}; }
  std::span<const float> span() const { return {data_.get(), static_cast<size_t>(rows_ * cols_)}; }
  size_t capacity_bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().bytes; }

 private:
  struct Free {
    size_t bytes;
    void operator()(float* p) const { FreeLarge(p, bytes); }
  };
  using Memory = std::unique_ptr<float, Free>;
  Memory data_;
  int64_t rows_ = 0;
  int64_t cols_ = 0;
};

}  // namespace platen
