#include "model/training/from_scratch/mtp_net.h"

#include <cassert>
#include <cmath>

#include "model/training/norms.h"

namespace platen {
namespace {

constexpr double kNormEps = 1e-8;

// Calls row(r, sequence, place) for every row of a batch.
template <class Row>
void ForRows(const MtpTask& task, const TokenBatch& batch, const Row& row) {
  const int64_t places = task.places();
  for (int64_t b = 0; b < batch.count; ++b) {
    for (int64_t i = 0; i < places; ++i) row(b * places + i, b, i);
  }
}

}  // namespace

template <class T>
MtpNet<T>::MtpNet(const MtpShape& shape, const MtpTask& task)
    : shape_(shape),
      task_(task),
      ones_(static_cast<size_t>(task.sizes.width), T{1}),
      depths_(static_cast<size_t>(task.sizes.depths)) {
  assert(task.places() > 0);
}

template <class T>
Matrix<T> MtpNet<T>::Embed(const Parameters<T>& p, const TokenBatch& batch, int64_t offset) const {
  const ConstView<T> table = p.weights(shape_.embeddings);
  Matrix<T> rows(batch.count * task_.places(), table.cols);
  ForRows(task_, batch, [&](int64_t r, int64_t b, int64_t i) {
    const T* from = table.Row(batch.at(b, i + offset));
    std::copy(from, from + table.cols, rows.Row(r));
  });
  return rows;
}

template <class T>
void MtpNet<T>::AddToEmbeddings(Parameters<T>& p, const TokenBatch& batch, int64_t offset,
                                ConstView<T> gradient) const {
  const View<T> table = p.weight_gradient(shape_.embeddings);
  ForRows(task_, batch, [&](int64_t r, int64_t b, int64_t i) {
    T* to = table.Row(batch.at(b, i + offset));
    for (int64_t c = 0; c < table.cols; ++c) to[c] += gradient.Row(r)[c];
  });
}

template <class T>
void MtpNet<T>::Forward(const Parameters<T>& p, const TokenBatch& batch) {
  assert(batch.length == task_.sizes.length);
  const int64_t rows = batch.count * task_.places(), d = task_.sizes.width;
  for (int k = 0; k < task_.sizes.depths; ++k) {
    Depth& depth = at(k);
    depth.previous = chained(k) ? at(k - 1).y : Embed(p, batch, 0);
    depth.fed = Embed(p, batch, k + 1);
    depth.input.Resize(rows, 2 * d);
    depth.x.Resize(rows, d);
    depth.y.Resize(rows, d);
    depth.logits.Resize(rows, task_.sizes.vocabulary);
    const View<T> input = depth.input;
    NormRows<T>(depth.previous, ones_.data(), static_cast<T>(kNormEps), input.Columns(0, d));
    NormRows<T>(depth.fed, ones_.data(), static_cast<T>(kNormEps), input.Columns(d, d));
    ApplyAffine<T>(shape_.projection, p, depth.input, depth.x);
    depth.block.Forward(shape_.block, p, depth.x, depth.y);
    ApplyAffine<T>(shape_.unembedding, p, depth.y, depth.logits);
  }
}

template <class T>
void MtpNet<T>::Backward(Parameters<T>& p, const TokenBatch& batch,
                         std::span<const Matrix<T>> dlogits) {
  const int64_t rows = batch.count * task_.places(), d = task_.sizes.width;
  Matrix<T> from_next(rows, d);  // the gradient at y that the next depth of the chain sends back
  for (int k = task_.sizes.depths - 1; k >= 0; --k) {
    Depth& depth = at(k);
    Matrix<T> dy = from_next;
    Matrix<T> dx(rows, d), dinput(rows, 2 * d), dfed(rows, d);
    AffineGradient<T>(shape_.unembedding, p, depth.y, dlogits[static_cast<size_t>(k)], dy,
                      Into::kAdd);
    depth.block.Backward(shape_.block, p, depth.x, dy, dx);
    AffineGradient<T>(shape_.projection, p, depth.input, dx, dinput);
    const ConstView<T> gradient = dinput;
    NormGradient<T>(depth.fed, ones_.data(), static_cast<T>(kNormEps), gradient.Columns(d, d), dfed,
                    Into::kStore, nullptr);
    AddToEmbeddings(p, batch, k + 1, dfed);
    NormGradient<T>(depth.previous, ones_.data(), static_cast<T>(kNormEps), gradient.Columns(0, d),
                    from_next, Into::kStore, nullptr);
    if (chained(k)) continue;
    AddToEmbeddings(p, batch, 0, from_next);
    from_next.Resize(rows, d);
  }
}

std::vector<TokenId> LabelsOf(const MtpTask& task, const TokenBatch& batch, int depth) {
  std::vector<TokenId> labels;
  ForRows(task, batch, [&](int64_t, int64_t b, int64_t i) {
    labels.push_back(batch.at(b, i + depth + task.offset()));
  });
  return labels;
}

template <class T>
RowLosses CrossEntropy(ConstView<T> logits, std::span<const TokenId> labels, double weight,
                       View<T> dlogits) {
  assert(static_cast<size_t>(logits.rows) == labels.size());
  const size_t rows = labels.size();
  RowLosses out = {std::vector<double>(rows), std::vector<uint8_t>(rows),
                   std::vector<double>(rows)};
  std::vector<double> shares(static_cast<size_t>(logits.cols));
  for (int64_t r = 0; r < logits.rows; ++r) {
    const T* row = logits.Row(r);
    const auto at = static_cast<size_t>(r);
    const T* best = std::max_element(row, row + logits.cols);
    double sum = 0;
    for (int64_t i = 0; i < logits.cols; ++i) {
      shares[static_cast<size_t>(i)] = std::exp(static_cast<double>(row[i] - *best));
      sum += shares[static_cast<size_t>(i)];
    }
    out.loss[at] = std::log(sum) - static_cast<double>(row[labels[at]] - *best);
    out.hit[at] = best - row == labels[at];
    out.probability[at] = std::exp(-out.loss[at]);
    if (dlogits.data == nullptr) continue;
    for (int64_t i = 0; i < logits.cols; ++i) {
      const double expected = i == labels[at] ? 1 : 0;
      dlogits.Row(r)[i] =
          static_cast<T>(weight * (shares[static_cast<size_t>(i)] / sum - expected));
    }
  }
  return out;
}

#define PLATEN_INSTANTIATE(T) \
  template class MtpNet<T>;   \
  template RowLosses CrossEntropy<T>(ConstView<T>, std::span<const TokenId>, double, View<T>);
PLATEN_INSTANTIATE(float)
PLATEN_INSTANTIATE(double)
#undef PLATEN_INSTANTIATE

}  // namespace platen
