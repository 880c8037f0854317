// From the normed rows of a draft layer to queries, keys and values, forward and backward: by three
// matrices, or through latents (DeepSeek-V2, arXiv:2405.04434), in the form that keeps no latents.
#pragma once

#include <array>
#include <span>

#include "model/training/parameters.h"

namespace platen {

// Rotated queries and keys, values; of all heads side by side. Queries may lack the first rows.
template <class T>
struct QkvRows {
  Matrix<T> q;  // [R - first query, H * key width]
  Matrix<T> k;  // [R, Hkv * key width]
  Matrix<T> v;  // [R, Hkv * value width]
};

using RowPositions = std::array<std::span<const int32_t>, 3>;  // T, H, W of every row

// Keeps what Backward needs of the last Forward.
template <class T>
class QkvGradient {
 public:
  // x [R, D]; queries are made of rows from first_query on.
  void Forward(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
               const RowPositions& positions, int64_t first_query, QkvRows<T>& out);
  // `d` holds the gradients of what Forward gave. Stores dx.
  void Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                const QkvRows<T>& d, View<T> dx);

 private:
  void FillTables(const DraftAttention& attention, const RowPositions& positions);
  void Rotate(const DraftAttention& attention, int64_t row, int direction, T* x) const;
  void MakeLatentKeys(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
                      QkvRows<T>& out);
  void MakeQueries(const DraftAttention& attention, const Parameters<T>& p, ConstView<T> x,
                   Matrix<T>& q);
  void LatentKeysBackward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                          const QkvRows<T>& d, View<T> dx);
  void QueriesBackward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                       Matrix<T> dq, View<T> dx);

  int64_t first_query_ = 0;
  Matrix<T> cos_, sin_;        // [R, rotary width / 2]
  Matrix<T> kv_in_, kv_;       // [R, Rk + rotary width], its normed latents [R, Rk]
  Matrix<T> q_in_, q_latent_;  // [queries, Rq], the same normed
};

}  // namespace platen
