#include "model/training/qkv_gradient.h"

#include <cmath>

#include "model/ops/parallel.h"
#include "model/training/norms.h"

namespace platen {
namespace {

template <class T>
void AddBias(const Parameters<T>& p, const std::optional<size_t>& bias, View<T> rows) {
  if (!bias) return;
  const std::span<const T> values = p.values(*bias);
  for (int64_t r = 0; r < rows.rows; ++r) {
    for (int64_t i = 0; i < rows.cols; ++i) rows.Row(r)[i] += values[static_cast<size_t>(i)];
  }
}

template <class T>
void AddBiasGradient(Parameters<T>& p, const std::optional<size_t>& bias, ConstView<T> dy) {
  if (!bias) return;
  const std::span<T> gradient = p.gradient(*bias);
  for (int64_t r = 0; r < dy.rows; ++r) {
    for (int64_t i = 0; i < dy.cols; ++i) gradient[static_cast<size_t>(i)] += dy.Row(r)[i];
  }
}

}  // namespace

template <class T>
void QkvGradient<T>::FillTables(const DraftAttention& attention, const RowPositions& positions) {
  const size_t pairs = attention.frequencies.size();
  const auto rows = static_cast<int64_t>(positions[0].size());
  cos_.Resize(rows, static_cast<int64_t>(pairs));
  sin_.Resize(rows, static_cast<int64_t>(pairs));
  for (int64_t r = 0; r < rows; ++r) {
    for (size_t i = 0; i < pairs; ++i) {
      const auto axis = static_cast<size_t>(attention.axis[i]);
      const T angle = static_cast<T>(positions[axis][static_cast<size_t>(r)]) *
                      static_cast<T>(attention.frequencies[i]);
      const auto wide = static_cast<double>(angle);
      cos_.Row(r)[i] = static_cast<T>(std::cos(wide) * attention.rotary_factor);
      sin_.Row(r)[i] = static_cast<T>(std::sin(wide) * attention.rotary_factor);
    }
  }
}

// direction -1: the transposed rotation, which takes gradients back.
template <class T>
void QkvGradient<T>::Rotate(const DraftAttention& attention, int64_t row, int direction,
                            T* x) const {
  const auto half = static_cast<int64_t>(attention.frequencies.size());
  for (int64_t i = 0; i < half; ++i) {
    T& a = x[attention.adjacent_pairs ? 2 * i : i];
    T& b = x[attention.adjacent_pairs ? 2 * i + 1 : i + half];
    const T c = cos_.Row(row)[i], s = static_cast<T>(direction) * sin_.Row(row)[i];
    const T rotated = a * c - b * s;
    b = b * c + a * s;
    a = rotated;
  }
}

template <class T>
void QkvGradient<T>::MakeQueries(const DraftAttention& attention, const Parameters<T>& p,
                                 ConstView<T> x, Matrix<T>& q) {
  q.Resize(x.rows, attention.q.rows);
  const auto& latent = attention.latent;
  if (latent && latent->q_a) {
    q_in_.Resize(x.rows, latent->q_a->rows);
    q_latent_.Resize(x.rows, latent->q_a->rows);
    ApplyWeights<T>(x, p.weights(*latent->q_a), q_in_);
    AddBias<T>(p, latent->q_a_bias, q_in_);
    NormRows<T>(q_in_, p.values(latent->q_norm).data(), static_cast<T>(latent->eps), q_latent_);
    ApplyWeights<T>(q_latent_, p.weights(attention.q), q);
  } else {
    ApplyWeights<T>(x, p.weights(attention.q), q);
    if (latent) AddBias<T>(p, latent->q_a_bias, q);
  }
  ParallelFor(q.rows(), [&](int64_t r) {
    for (int h = 0; h < attention.heads; ++h) {
      Rotate(attention, first_query_ + r, 1,
             q.Row(r) + h * attention.key_width() + attention.plain_width);
    }
  });
}

// A head's key: its own part, then the rotary part that all heads share.
template <class T>
void QkvGradient<T>::MakeLatentKeys(const DraftAttention& attention, const Parameters<T>& p,
                                    ConstView<T> x, QkvRows<T>& out) {
  const DraftAttention::Latent& latent = *attention.latent;
  const int64_t rank = latent.kv_a.rows - attention.rotary_width;
  kv_in_.Resize(x.rows, latent.kv_a.rows);
  kv_.Resize(x.rows, rank);
  ApplyWeights<T>(x, p.weights(latent.kv_a), kv_in_);
  AddBias<T>(p, latent.kv_a_bias, kv_in_);
  NormRows<T>(kv_in_.View().Columns(0, rank), p.values(latent.kv_norm).data(),
              static_cast<T>(latent.eps), kv_);
  Matrix<T> expanded(x.rows, latent.kv_b.rows);
  ApplyWeights<T>(kv_, p.weights(latent.kv_b), expanded);
  ParallelFor(x.rows, [&](int64_t r) {
    T* rotary = kv_in_.Row(r) + rank;
    Rotate(attention, r, 1, rotary);
    for (int h = 0; h < attention.heads; ++h) {
      const T* head = expanded.Row(r) + h * (attention.plain_width + attention.value_width);
      T* key = out.k.Row(r) + h * attention.key_width();
      std::copy_n(head, attention.plain_width, key);
      std::copy_n(rotary, attention.rotary_width, key + attention.plain_width);
      std::copy_n(head + attention.plain_width, attention.value_width,
                  out.v.Row(r) + h * attention.value_width);
    }
  });
}

template <class T>
void QkvGradient<T>::Forward(const DraftAttention& attention, const Parameters<T>& p,
                             ConstView<T> x, const RowPositions& positions, int64_t first_query,
                             QkvRows<T>& out) {
  first_query_ = first_query;
  FillTables(attention, positions);
  MakeQueries(attention, p, x.Rows(first_query, x.rows - first_query), out.q);
  out.k.Resize(x.rows, int64_t{attention.kv_heads} * attention.key_width());
  out.v.Resize(x.rows, int64_t{attention.kv_heads} * attention.value_width);
  if (attention.latent) {
    MakeLatentKeys(attention, p, x, out);
    return;
  }
  ApplyWeights<T>(x, p.weights(attention.k), out.k);
  ApplyWeights<T>(x, p.weights(attention.v), out.v);
  ParallelFor(x.rows, [&](int64_t r) {
    for (int h = 0; h < attention.kv_heads; ++h) {
      Rotate(attention, r, 1, out.k.Row(r) + h * attention.key_width() + attention.plain_width);
    }
  });
}

template <class T>
void QkvGradient<T>::QueriesBackward(const DraftAttention& attention, Parameters<T>& p,
                                     ConstView<T> x, Matrix<T> dq, View<T> dx) {
  ParallelFor(dq.rows(), [&](int64_t r) {
    for (int h = 0; h < attention.heads; ++h) {
      Rotate(attention, first_query_ + r, -1,
             dq.Row(r) + h * attention.key_width() + attention.plain_width);
    }
  });
  const auto& latent = attention.latent;
  if (!latent || !latent->q_a) {
    AddWeightGradient<T>(dq, x, p.weight_gradient(attention.q));
    if (latent) AddBiasGradient<T>(p, latent->q_a_bias, dq);
    ApplyTransposed<T>(dq, p.weights(attention.q), dx, Into::kAdd);
    return;
  }
  AddWeightGradient<T>(dq, q_latent_, p.weight_gradient(attention.q));
  Matrix<T> dlatent(dq.rows(), q_latent_.cols());
  ApplyTransposed<T>(dq, p.weights(attention.q), dlatent);
  NormGradient<T>(q_in_, p.values(latent->q_norm).data(), static_cast<T>(latent->eps), dlatent,
                  dlatent, Into::kStore, p.gradient_or_null(latent->q_norm));
  AddWeightGradient<T>(dlatent, x, p.weight_gradient(*latent->q_a));
  AddBiasGradient<T>(p, latent->q_a_bias, dlatent);
  ApplyTransposed<T>(dlatent, p.weights(*latent->q_a), dx, Into::kAdd);
}

template <class T>
void QkvGradient<T>::LatentKeysBackward(const DraftAttention& attention, Parameters<T>& p,
                                        ConstView<T> x, const QkvRows<T>& d, View<T> dx) {
  const DraftAttention::Latent& latent = *attention.latent;
  const int64_t rank = latent.kv_a.rows - attention.rotary_width;
  Matrix<T> dexpanded(x.rows, latent.kv_b.rows), din(x.rows, latent.kv_a.rows);
  ParallelFor(x.rows, [&](int64_t r) {
    T* rotary = din.Row(r) + rank;
    for (int h = 0; h < attention.heads; ++h) {
      T* head = dexpanded.Row(r) + h * (attention.plain_width + attention.value_width);
      const T* key = d.k.Row(r) + h * attention.key_width();
      std::copy_n(key, attention.plain_width, head);
      for (int i = 0; i < attention.rotary_width; ++i) rotary[i] += key[attention.plain_width + i];
      std::copy_n(d.v.Row(r) + h * attention.value_width, attention.value_width,
                  head + attention.plain_width);
    }
    Rotate(attention, r, -1, rotary);
  });
  AddWeightGradient<T>(dexpanded, kv_, p.weight_gradient(latent.kv_b));
  Matrix<T> dnormed(x.rows, rank);
  ApplyTransposed<T>(dexpanded, p.weights(latent.kv_b), dnormed);
  NormGradient<T>(kv_in_.View().Columns(0, rank), p.values(latent.kv_norm).data(),
                  static_cast<T>(latent.eps), dnormed, din.View().Columns(0, rank), Into::kStore,
                  p.gradient_or_null(latent.kv_norm));
  AddWeightGradient<T>(din, x, p.weight_gradient(latent.kv_a));
  AddBiasGradient<T>(p, latent.kv_a_bias, din);
  ApplyTransposed<T>(din, p.weights(latent.kv_a), dx, Into::kAdd);
}

template <class T>
void QkvGradient<T>::Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                              const QkvRows<T>& d, View<T> dx) {
  for (int64_t r = 0; r < dx.rows; ++r) std::fill_n(dx.Row(r), dx.cols, T{0});
  const int64_t queries = d.q.rows();
  QueriesBackward(attention, p, x.Rows(first_query_, queries), d.q, dx.Rows(first_query_, queries));
  if (attention.latent) {
    LatentKeysBackward(attention, p, x, d, dx);
    return;
  }
  Matrix<T> dk = d.k;
  ParallelFor(x.rows, [&](int64_t r) {
    for (int h = 0; h < attention.kv_heads; ++h) {
      Rotate(attention, r, -1, dk.Row(r) + h * attention.key_width() + attention.plain_width);
    }
  });
  AddWeightGradient<T>(dk, x, p.weight_gradient(attention.k));
  AddWeightGradient<T>(d.v, x, p.weight_gradient(attention.v));
  ApplyTransposed<T>(dk, p.weights(attention.k), dx, Into::kAdd);
  ApplyTransposed<T>(d.v, p.weights(attention.v), dx, Into::kAdd);
}

template class QkvGradient<float>;
template class QkvGradient<double>;

}  // namespace platen
