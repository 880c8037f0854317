// Matrix products of training, by OpenBLAS but for one. Nothing on the way from an image to text
// uses them.
//
// A product is cut into tiles of fixed sizes, each computed by one thread: results do not depend on
// how many threads there are, nor on who runs which tile. They do depend on OpenBLAS's kernels,
// which follow the CPU.
#pragma once

#include "model/training/matrix.h"

namespace platen {

template <class T>
using View = BasicMatView<T>;
template <class T>
using ConstView = BasicMatView<const T>;

// One thread: c = scale * op(a) op(b) + keep * c.
enum class Operand { kPlain, kTransposed };
template <class T>
void MultiplyHere(T scale, ConstView<T> a, Operand op_a, ConstView<T> b, Operand op_b, T keep,
                  View<T> c);

enum class Into { kStore, kAdd };

// Of rows or columns.
struct Range {
  int64_t first = 0;
  int64_t count = 0;
};

// y [R, n] = x [R, k] w [n, k]^T
template <class T>
void ApplyWeights(ConstView<T> x, ConstView<T> w, View<T> y, Into into = Into::kStore);
// dx [R, k] = dy [R, n] w [n, k]
template <class T>
void ApplyTransposed(ConstView<T> dy, ConstView<T> w, View<T> dx, Into into = Into::kStore);
// dw [n, k] += dy [R, n]^T x [R, k]
template <class T>
void AddWeightGradient(ConstView<T> dy, ConstView<T> x, View<T> dw);

// The same by the engine's kernel, which is faster where w can be put down as it takes it: panels
// of 64 columns, one after another, each [n][64] (gemm_job.h); the rest of the last one is any
// numbers.
void ApplyTransposedPanels(ConstView<float> dy, const float* panels, View<float> dx, Into into);

// What OpenBLAS computes with: "SkylakeX", "Haswell", ... Its threads are switched off by the first
// product.
const char* BlasCore();

}  // namespace platen
