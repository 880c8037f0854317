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
void RotaryRows<T>::Fill(const DraftAttention& attention, const RowPositions& positions) {
  const size_t pairs = attention.frequencies.size();
  const auto rows = static_cast<int64_t>(positions[0].size());
  cos_.Reuse(rows, static_cast<int64_t>(pairs));
  sin_.Reuse(rows, static_cast<int64_t>(pairs));
  ParallelFor(rows, [&](int64_t r) {
    for (size_t i = 0; i < pairs; ++i) {
      const auto axis = static_cast<size_t>(attention.axis[i]);
      const T angle = static_cast<T>(positions[axis][static_cast<size_t>(r)]) *
                      static_cast<T>(attention.frequencies[i]);
      const auto wide = static_cast<double>(angle);
      cos_.Row(r)[i] = static_cast<T>(std::cos(wide) * attention.rotary_factor);
      sin_.Row(r)[i] = static_cast<T>(std::sin(wide) * attention.rotary_factor);
    }
  });
}

template <class T>
void RotaryRows<T>::Rotate(const DraftAttention& attention, int64_t row, int direction,
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

namespace {

// The rotary parts of `heads` heads side by side.
template <class T>
void RotateHeads(const DraftAttention& attention, const RotaryRows<T>& rotary, int heads,
                 int direction, View<T> rows) {
  ParallelFor(rows.rows, [&](int64_t r) {
    for (int h = 0; h < heads; ++h) {
      rotary.Rotate(attention, r, direction,
                    rows.Row(r) + h * attention.key_width() + attention.plain_width);
    }
  });
}

}  // namespace

template <class T>
void QueriesGradient<T>::Forward(const DraftAttention& attention, const Parameters<T>& p,
                                 ConstView<T> x, const RowPositions& positions, Matrix<T>& q) {
  rotary_.Fill(attention, positions);
  q.Reuse(x.rows, attention.q.rows);
  const auto& latent = attention.latent;
  if (latent && latent->q_a) {
    in_.Reuse(x.rows, latent->q_a->rows);
    latent_.Reuse(x.rows, latent->q_a->rows);
    ApplyWeights<T>(x, p.weights(*latent->q_a), in_);
    AddBias<T>(p, latent->q_a_bias, in_);
    NormRows<T>(in_, p.values(latent->q_norm).data(), static_cast<T>(latent->eps), latent_);
    ApplyWeights<T>(latent_, p.weights(attention.q), q);
  } else {
    ApplyWeights<T>(x, p.weights(attention.q), q);
    if (latent) AddBias<T>(p, latent->q_a_bias, q);
  }
  RotateHeads<T>(attention, rotary_, attention.heads, 1, q);
}

template <class T>
void QueriesGradient<T>::Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                                  Matrix<T> dq, View<T> dx) {
  RotateHeads<T>(attention, rotary_, attention.heads, -1, dq);
  const auto& latent = attention.latent;
  if (!latent || !latent->q_a) {
    AddWeightGradient<T>(dq, x, p.weight_gradient(attention.q));
    if (latent) AddBiasGradient<T>(p, latent->q_a_bias, dq);
    ApplyTransposed<T>(dq, p.weights(attention.q), dx, Into::kAdd);
    return;
  }
  AddWeightGradient<T>(dq, latent_, p.weight_gradient(attention.q));
  Matrix<T> dlatent(dq.rows(), latent_.cols());
  ApplyTransposed<T>(dq, p.weights(attention.q), dlatent);
  NormGradient<T>(in_, p.values(latent->q_norm).data(), static_cast<T>(latent->eps), dlatent,
                  dlatent, Into::kStore, p.gradient_or_null(latent->q_norm));
  AddWeightGradient<T>(dlatent, x, p.weight_gradient(*latent->q_a));
  AddBiasGradient<T>(p, latent->q_a_bias, dlatent);
  ApplyTransposed<T>(dlatent, p.weights(*latent->q_a), dx, Into::kAdd);
}

template <class T>
void KeysGradient<T>::MakeLatent(const DraftAttention& attention, const Parameters<T>& p,
                                 ConstView<T> x) {
  const DraftAttention::Latent& latent = *attention.latent;
  const int64_t rank = latent.kv_a.rows - attention.rotary_width;
  in_.Reuse(x.rows, latent.kv_a.rows);
  latent_.Reuse(x.rows, rank);
  ApplyWeights<T>(x, p.weights(latent.kv_a), in_);
  AddBias<T>(p, latent.kv_a_bias, in_);
  NormRows<T>(in_.View().Columns(0, rank), p.values(latent.kv_norm).data(),
              static_cast<T>(latent.eps), latent_);
}

// A head's key: its own part, then the rotary part that all heads share.
template <class T>
void KeysGradient<T>::ExpandLatent(const DraftAttention& attention, const Parameters<T>& p,
                                   View<T> k, View<T> v) {
  const DraftAttention::Latent& latent = *attention.latent;
  Matrix<T> expanded(k.rows, latent.kv_b.rows);
  ApplyWeights<T>(latent_, p.weights(latent.kv_b), expanded);
  ParallelFor(k.rows, [&](int64_t r) {
    T* rotary = in_.Row(r) + latent_.cols();
    rotary_.Rotate(attention, r, 1, rotary);
    for (int h = 0; h < attention.heads; ++h) {
      const T* head = expanded.Row(r) + h * (attention.plain_width + attention.value_width);
      T* key = k.Row(r) + h * attention.key_width();
      std::copy_n(head, attention.plain_width, key);
      std::copy_n(rotary, attention.rotary_width, key + attention.plain_width);
      std::copy_n(head + attention.plain_width, attention.value_width,
                  v.Row(r) + h * attention.value_width);
    }
  });
}

template <class T>
void KeysGradient<T>::Forward(const DraftAttention& attention, const Parameters<T>& p,
                              ConstView<T> x, const RowPositions& positions, View<T> k, View<T> v) {
  rotary_.Fill(attention, positions);
  if (attention.latent) {
    MakeLatent(attention, p, x);
    ExpandLatent(attention, p, k, v);
    return;
  }
  ApplyWeights<T>(x, p.weights(attention.k), k);
  ApplyWeights<T>(x, p.weights(attention.v), v);
  RotateHeads<T>(attention, rotary_, attention.kv_heads, 1, k);
}

template <class T>
void KeysGradient<T>::Recall(const DraftAttention& attention, const Parameters<T>& p,
                             ConstView<T> x, const RowPositions& positions) {
  rotary_.Fill(attention, positions);
  if (attention.latent) MakeLatent(attention, p, x);
}

template <class T>
void KeysGradient<T>::BackwardLatent(const DraftAttention& attention, Parameters<T>& p,
                                     ConstView<T> x, ConstView<T> dk, ConstView<T> dv, View<T> dx) {
  const DraftAttention::Latent& latent = *attention.latent;
  const int64_t rank = latent.kv_a.rows - attention.rotary_width;
  Matrix<T> dexpanded(x.rows, latent.kv_b.rows), din(x.rows, latent.kv_a.rows);
  ParallelFor(x.rows, [&](int64_t r) {
    T* rotary = din.Row(r) + rank;
    for (int h = 0; h < attention.heads; ++h) {
      T* head = dexpanded.Row(r) + h * (attention.plain_width + attention.value_width);
      const T* key = dk.Row(r) + h * attention.key_width();
      std::copy_n(key, attention.plain_width, head);
      for (int i = 0; i < attention.rotary_width; ++i) rotary[i] += key[attention.plain_width + i];
      std::copy_n(dv.Row(r) + h * attention.value_width, attention.value_width,
                  head + attention.plain_width);
    }
    rotary_.Rotate(attention, r, -1, rotary);
  });
  AddWeightGradient<T>(dexpanded, latent_, p.weight_gradient(latent.kv_b));
  Matrix<T> dnormed(x.rows, rank);
  ApplyTransposed<T>(dexpanded, p.weights(latent.kv_b), dnormed);
  NormGradient<T>(in_.View().Columns(0, rank), p.values(latent.kv_norm).data(),
                  static_cast<T>(latent.eps), dnormed, din.View().Columns(0, rank), Into::kStore,
                  p.gradient_or_null(latent.kv_norm));
  AddWeightGradient<T>(din, x, p.weight_gradient(latent.kv_a));
  AddBiasGradient<T>(p, latent.kv_a_bias, din);
  ApplyTransposed<T>(din, p.weights(latent.kv_a), dx, Into::kAdd);
}

template <class T>
void KeysGradient<T>::Backward(const DraftAttention& attention, Parameters<T>& p, ConstView<T> x,
                               ConstView<T> dk, ConstView<T> dv, View<T> dx) {
  if (attention.latent) {
    BackwardLatent(attention, p, x, dk, dv, dx);
    return;
  }
  Matrix<T> unrotated = Converted<T>(dk);
  RotateHeads<T>(attention, rotary_, attention.kv_heads, -1, unrotated);
  AddWeightGradient<T>(unrotated, x, p.weight_gradient(attention.k));
  AddWeightGradient<T>(dv, x, p.weight_gradient(attention.v));
  ApplyTransposed<T>(unrotated, p.weights(attention.k), dx, Into::kAdd);
  ApplyTransposed<T>(dv, p.weights(attention.v), dx, Into::kAdd);
}

#define PLATEN_INSTANTIATE(T)        \
  template class RotaryRows<T>;      \
  template class QueriesGradient<T>; \
  template class KeysGradient<T>;
PLATEN_INSTANTIATE(float)
PLATEN_INSTANTIATE(double)
#undef PLATEN_INSTANTIATE

}  // namespace platen
