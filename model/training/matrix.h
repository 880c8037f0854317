// Row-major matrices of float or double for training: the same code is trained in float and checked
// in double.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "model/ops/tensor.h"

namespace platen {

// Numbers that a vector grows by are not written: they are written over at once.
template <class T>
struct Unwritten : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Unwritten<U>;
  };
  void construct(T* p) { ::new (static_cast<void*>(p)) T; }
  template <class... From>
  void construct(T* p, From&&... from) {
    ::new (static_cast<void*>(p)) T(std::forward<From>(from)...);
  }
};

// Owns its values; zero when made and after Resize.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  Matrix(int64_t rows, int64_t cols) { Resize(rows, cols); }

  // For what is written over at once: values are unspecified.
  void Reuse(int64_t rows, int64_t cols) {
    values_.resize(static_cast<size_t>(rows * cols));
    rows_ = rows;
    cols_ = cols;
  }
  void Resize(int64_t rows, int64_t cols) {
    values_.assign(static_cast<size_t>(rows * cols), T{0});
    rows_ = rows;
    cols_ = cols;
  }

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  using Values = std::vector<T, Unwritten<T>>;
  Values& values() { return values_; }
  const Values& values() const { return values_; }
  T* Row(int64_t r) { return values_.data() + r * cols_; }
  const T* Row(int64_t r) const { return values_.data() + r * cols_; }

  BasicMatView<T> View() { return {values_.data(), rows_, cols_, cols_}; }
  BasicMatView<const T> View() const { return {values_.data(), rows_, cols_, cols_}; }
  operator BasicMatView<T>() { return View(); }              // NOLINT
  operator BasicMatView<const T>() const { return View(); }  // NOLINT

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  Values values_;
};

// Copies values of one type into a matrix of another.
template <class T, class From>
Matrix<T> Converted(BasicMatView<From> from) {
  Matrix<T> to;
  to.Reuse(from.rows, from.cols);
  for (int64_t r = 0; r < from.rows; ++r) {
    std::transform(from.Row(r), from.Row(r) + from.cols, to.Row(r),
                   [](auto value) { return static_cast<T>(value); });
  }
  return to;
}

}  // namespace platen
