#include "model/training/mlp_gradient.h"

#include <cmath>

#include "model/ops/parallel.h"

namespace platen {
namespace {

template <class T>
T Sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

// The activation of g and its slope.
template <class T>
struct Activated {
  T value, slope;
};
template <class T>
Activated<T> Activate(Activation activation, T g) {
  if (activation == Activation::kRelu2) {
    const T positive = g > 0 ? g : T{0};
    return {positive * positive, 2 * positive};
  }
  const T s = Sigmoid(g);
  return {g * s, s * (1 + g * (1 - s))};
}

}  // namespace

template <class T>
void MlpGradient<T>::Forward(const DraftMlp& mlp, const Parameters<T>& p, ConstView<T> x,
                             View<T> y) {
  gate_.Reuse(x.rows, mlp.gate.rows);
  up_.Reuse(x.rows, mlp.up.rows);
  inner_.Reuse(x.rows, mlp.gate.rows);
  ApplyWeights<T>(x, p.weights(mlp.gate), gate_);
  ApplyWeights<T>(x, p.weights(mlp.up), up_);
  ParallelFor(x.rows, [&](int64_t r) {
    for (int64_t i = 0; i < inner_.cols(); ++i) {
      inner_.Row(r)[i] = Activate(mlp.activation, gate_.Row(r)[i]).value * up_.Row(r)[i];
    }
  });
  ApplyWeights<T>(inner_, p.weights(mlp.down), y);
}

template <class T>
void MlpGradient<T>::Backward(const DraftMlp& mlp, Parameters<T>& p, ConstView<T> x,
                              ConstView<T> dy, View<T> dx) {
  AddWeightGradient<T>(dy, inner_, p.weight_gradient(mlp.down));
  Matrix<T> dgate, dup;
  dgate.Reuse(x.rows, mlp.gate.rows);
  dup.Reuse(x.rows, mlp.gate.rows);
  ApplyTransposed<T>(dy, p.weights(mlp.down), dup);  // of the product, for now
  ParallelFor(x.rows, [&](int64_t r) {
    for (int64_t i = 0; i < dup.cols(); ++i) {
      const Activated<T> act = Activate(mlp.activation, gate_.Row(r)[i]);
      const T d = dup.Row(r)[i];
      dgate.Row(r)[i] = d * up_.Row(r)[i] * act.slope;
      dup.Row(r)[i] = d * act.value;
    }
  });
  AddWeightGradient<T>(dgate, x, p.weight_gradient(mlp.gate));
  AddWeightGradient<T>(dup, x, p.weight_gradient(mlp.up));
  ApplyTransposed<T>(dgate, p.weights(mlp.gate), dx, Into::kAdd);
  ApplyTransposed<T>(dup, p.weights(mlp.up), dx, Into::kAdd);
}

template <class T>
void ExpertsGradient<T>::Route(const DraftExperts& experts, const Parameters<T>& p) {
  std::vector<float> bias;
  if (experts.correction_bias) {
    for (const T b : p.values(*experts.correction_bias)) bias.push_back(static_cast<float>(b));
  }
  groups_.clear();
  groups_.resize(experts.experts.size());
  std::vector<float> logits(experts.experts.size());
  constexpr double kLeastSum = 1e-20;
  for (int64_t r = 0; r < logits_.rows(); ++r) {
    const T* row = logits_.Row(r);
    for (size_t e = 0; e < logits.size(); ++e) logits[e] = static_cast<float>(row[e]);
    const std::vector<int> chosen = experts.choose(logits, bias);
    T sum = static_cast<T>(kLeastSum);
    for (const int e : chosen) sum += Sigmoid(row[e]);
    const T factor = static_cast<T>(experts.scale) / (experts.normalise ? sum : T{1});
    for (const int e : chosen) {
      groups_[static_cast<size_t>(e)].rows.push_back(r);
      groups_[static_cast<size_t>(e)].weights.push_back(Sigmoid(row[e]) * factor);
    }
  }
}

template <class T>
void ExpertsGradient<T>::Forward(const DraftExperts& experts, const Parameters<T>& p,
                                 ConstView<T> x, View<T> y) {
  logits_.Resize(x.rows, experts.router.rows);
  ApplyWeights<T>(x, p.weights(experts.router), logits_);
  Route(experts, p);
  if (experts.shared) {
    shared_.Forward(*experts.shared, p, x, y);
  } else {
    for (int64_t r = 0; r < y.rows; ++r) std::fill_n(y.Row(r), y.cols, T{0});
  }
  for (size_t e = 0; e < groups_.size(); ++e) {
    Group& group = groups_[e];
    const auto count = static_cast<int64_t>(group.rows.size());
    group.x.Resize(count, x.cols);
    group.y.Resize(count, x.cols);
    for (int64_t i = 0; i < count; ++i) {
      std::copy_n(x.Row(group.rows[static_cast<size_t>(i)]), x.cols, group.x.Row(i));
    }
    group.mlp.Forward(experts.experts[e], p, group.x, group.y);
    for (int64_t i = 0; i < count; ++i) {
      T* sum = y.Row(group.rows[static_cast<size_t>(i)]);
      const T weight = group.weights[static_cast<size_t>(i)];
      for (int64_t c = 0; c < y.cols; ++c) sum[c] += weight * group.y.Row(i)[c];
    }
  }
}

// With weights w_k = scale s_k / sum s and s = sigmoid(z):
// ds_k = scale / sum s (dw_k - sum_j dw_j s_j / sum s), dz = ds s (1 - s).
template <class T>
void ExpertsGradient<T>::RouterBackward(const DraftExperts& experts,
                                        const std::vector<std::vector<T>>& dweights,
                                        Matrix<T>& dlogits) const {
  const auto rows = static_cast<size_t>(logits_.rows());
  std::vector<T> sums(rows, T{0}), dots(rows, T{0});
  for (size_t e = 0; e < groups_.size(); ++e) {
    for (size_t i = 0; i < groups_[e].rows.size(); ++i) {
      const auto r = static_cast<size_t>(groups_[e].rows[i]);
      const T s = Sigmoid(logits_.Row(groups_[e].rows[i])[e]);
      sums[r] += s;
      dots[r] += s * dweights[e][i];
    }
  }
  const T scale = static_cast<T>(experts.scale);
  for (size_t e = 0; e < groups_.size(); ++e) {
    for (size_t i = 0; i < groups_[e].rows.size(); ++i) {
      const int64_t r = groups_[e].rows[i];
      const T sum = sums[static_cast<size_t>(r)], dot = dots[static_cast<size_t>(r)];
      const T s = Sigmoid(logits_.Row(r)[e]), dw = dweights[e][i];
      const T ds = experts.normalise ? scale / sum * (dw - dot / sum) : scale * dw;
      dlogits.Row(r)[e] = ds * s * (1 - s);
    }
  }
}

template <class T>
void ExpertsGradient<T>::Backward(const DraftExperts& experts, Parameters<T>& p, ConstView<T> x,
                                  ConstView<T> dy, View<T> dx) {
  if (experts.shared) shared_.Backward(*experts.shared, p, x, dy, dx);
  std::vector<std::vector<T>> dweights(groups_.size());
  for (size_t e = 0; e < groups_.size(); ++e) {
    Group& group = groups_[e];
    const auto count = static_cast<int64_t>(group.rows.size());
    Matrix<T> dresult(count, dy.cols), dinput(count, dy.cols);
    for (int64_t i = 0; i < count; ++i) {
      const T* grad = dy.Row(group.rows[static_cast<size_t>(i)]);
      const T* y = group.y.Row(i);
      T dot = 0;
      for (int64_t c = 0; c < dy.cols; ++c) {
        dot += grad[c] * y[c];
        dresult.Row(i)[c] = group.weights[static_cast<size_t>(i)] * grad[c];
      }
      dweights[e].push_back(dot);
    }
    group.mlp.Backward(experts.experts[e], p, group.x, dresult, dinput);
    for (int64_t i = 0; i < count; ++i) {
      T* sum = dx.Row(group.rows[static_cast<size_t>(i)]);
      for (int64_t c = 0; c < dx.cols; ++c) sum[c] += dinput.Row(i)[c];
    }
  }
  if (!p.trained(experts.router.tensor)) return;
  Matrix<T> dlogits(x.rows, experts.router.rows);
  RouterBackward(experts, dweights, dlogits);
  AddWeightGradient<T>(dlogits, x, p.weight_gradient(experts.router));
  ApplyTransposed<T>(dlogits, p.weights(experts.router), dx, Into::kAdd);
}

template class MlpGradient<float>;
template class MlpGradient<double>;
template class ExpertsGradient<float>;
template class ExpertsGradient<double>;

}  // namespace platen
