// From the normed rows of a draft layer to queries, keys and values, forward and backward: by three
// matrices, or through latents (DeepSeek-V2, arXiv:2405.04434), in the form that keeps no latents.
#pragma once

#include <array>
#include <span>

#include "model/training/parameters.h"

namespace platen {

// Rotated queries and keys, values; of all heads side by side.
template <class T>
struct QkvRows {
  Matrix<T> q;  // [rows with queries, H * key width]
  Matrix<T> k;  // [R, Hkv * key width]
  Matrix<T> v;  // [R, Hkv * value width]
};

using RowPositions = std::array<std::span<const int32_t>, 3>;  // T, H, W of every row

// Cosines and sines of some rows.
template <class T>
class RotaryRows {
 public:
  void Fill(const DraftAttention& attention, const RowPositions& positions);
  // Direction -1 is the transposed rotation, which takes gradients back.
  void Rotate(const DraftAttention& attention, int64_t row, int direction, T* x) const;

 private:
  Matrix<T> cos_, sin_;  // [R, rotary width / 2]
};

// Both keep what Backward needs of the last Forward; Backward adds to dx and to the gradients of
// the weights. x [R, D].
template <class T>
class QueriesGradient {
 public:
  void Forward(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
               const RowPositions& positions, Matrix<T>& q);
  void Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x, Matrix<T> dq,
                View<T> dx);

 private:
  RotaryRows<T> rotary_;
  Matrix<T> in_, latent_;  // [R, Rq], the same normed
};

template <class T>
class KeysGradient {
 public:
  void Forward(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
               const RowPositions& positions, View<T> k, View<T> v);
  // In place of a Forward that was made for the same rows: what Backward needs, no keys and values.
  void Recall(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
              const RowPositions& positions);
  void Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x, ConstView<T> dk,
                ConstView<T> dv, View<T> dx);

 private:
  void MakeLatent(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x);
  void ExpandLatent(const DraftAttention& attention, const Parameters<T>& p, View<T> k, View<T> v);
  void BackwardLatent(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                      ConstView<T> dk, ConstView<T> dv, View<T> dx);

  RotaryRows<T> rotary_;
  Matrix<T> in_, latent_;  // [R, Rk + rotary width], its normed latents [R, Rk]
};

}  // namespace platen
