#include "model/training/head_loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>

#include "model/kernels/gemm_job.h"
#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"
#include "model/training/vector_math.h"

namespace platen {
namespace {

constexpr int64_t kTileRows = 2048;   // of the head, widened together
constexpr int64_t kRowsAtOnce = 512;  // two tiles of a product: the fewer, the worse they share

// What a row should say: tokens of the head with probabilities that sum to 1.
struct Wanted {
  std::vector<int32_t> places;
  std::vector<double> probabilities;
};

Wanted WantedOf(const TrainingPage& page, const Objective& objective, const StepLabels& labels,
                size_t row) {
  if (objective.labels == Labels::kHard) return {{labels.place[row]}, {1}};
  const int64_t width = page.teacher_width;
  const auto first = static_cast<size_t>((labels.index[row] - page.prompt) * width);
  Wanted wanted;
  double sum = 0;
  for (size_t i = first; i < first + static_cast<size_t>(width); ++i) {
    wanted.places.push_back(static_cast<int32_t>(page.teacher_ids[i]));
    wanted.probabilities.push_back(std::exp(static_cast<double>(page.teacher_logits[i]) -
                                            static_cast<double>(page.teacher_logits[first])));
    sum += wanted.probabilities.back();
  }
  for (double& probability : wanted.probabilities) probability /= sum;
  return wanted;
}

// One row: its loss, and in place of the logits their gradient times `weight`.
template <class T>
void LossOfRow(T* logits, int64_t n, const Wanted& wanted, int32_t label, double weight,
               RowLosses& out, size_t row) {
  const T largest = LargestOf<T>(logits, n);
  const int64_t best = std::find(logits, logits + n, largest) - logits;
  const auto of_label = static_cast<double>(logits[label]);
  double of_wanted = 0;
  for (size_t i = 0; i < wanted.places.size(); ++i) {
    of_wanted += wanted.probabilities[i] * static_cast<double>(logits[wanted.places[i]]);
  }
  const double sum = ExponentialsAndSum<T>(largest, n, logits);
  const double lse = static_cast<double>(largest) + std::log(sum);
  out.loss[row] = lse - of_wanted;  // what is wanted sums to 1
  out.hit[row] = best == label ? 1 : 0;
  out.probability[row] = std::exp(of_label - lse);
  const T scale = static_cast<T>(weight / sum);
  for (int64_t i = 0; i < n; ++i) logits[i] *= scale;
  for (size_t i = 0; i < wanted.places.size(); ++i) {
    logits[wanted.places[i]] -= static_cast<T>(weight * wanted.probabilities[i]);
  }
}

}  // namespace

template <class T>
FrozenHead<T>::FrozenHead(const StoredTensor& weights, double softcap,
                          std::vector<TokenId> vocabulary, Exact exact)
    : weights_(weights),
      softcap_(static_cast<T>(softcap)),
      vocabulary_(std::move(vocabulary)),
      exact_(std::move(exact)),
      rows_(vocabulary_.empty() ? weights.shape.front()
                                : static_cast<int64_t>(vocabulary_.size())) {}

// Calls keep(i, row) for each row of a tile, from several threads.
template <class T>
template <class Keep>
void FrozenHead<T>::WidenRows(int64_t first, int64_t count, const Keep& keep) const {
  const int64_t width = weights_.shape.back();
  constexpr int64_t kRowsOfTask = 64;
  ParallelFor(CeilDiv(count, kRowsOfTask), [&](int64_t task) {
    std::vector<float> row(static_cast<size_t>(width));
    const int64_t end = std::min(count, (task + 1) * kRowsOfTask);
    for (int64_t i = task * kRowsOfTask; i < end; ++i) {
      const int64_t id =
          vocabulary_.empty() ? first + i : vocabulary_[static_cast<size_t>(first + i)];
      WidenRow(weights_, id, row);
      keep(i, row);
    }
  });
}

template <class T>
void FrozenHead<T>::WidenTile(int64_t first, int64_t count, Matrix<T>& tile) const {
  tile.Reuse(count, weights_.shape.back());
  WidenRows(first, count, [&](int64_t i, std::span<const float> row) {
    std::copy(row.begin(), row.end(), tile.Row(i));
  });
}

// The gradient at x by some rows of the head, whose gradients are dlogits.
template <>
void FrozenHead<double>::TileGradient(int64_t first, ConstView<double> dlogits, View<double> dx,
                                      Matrix<double>& tile) const {
  WidenTile(first, dlogits.cols, tile);
  ApplyTransposed<double>(dlogits, tile, dx, first == 0 ? Into::kStore : Into::kAdd);
}

template <>
void FrozenHead<float>::TileGradient(int64_t first, ConstView<float> dlogits, View<float> dx,
                                     Matrix<float>& tile) const {
  const int64_t count = dlogits.cols;
  const auto width = static_cast<size_t>(dx.cols);
  constexpr auto kPanel = static_cast<size_t>(kPanelColumns);
  const int64_t rows = CeilDiv(dx.cols, kPanelColumns) * count;
  tile.Reuse(rows + 1, kPanelColumns);  // one more, to begin with a cache line
  void* begin = tile.Row(0);
  size_t space = kPanel * sizeof(float) * 2;
  auto* const panels = static_cast<float*>(std::align(64, kPanel * sizeof(float), begin, space));
  WidenRows(first, count, [&](int64_t i, std::span<const float> row) {
    for (size_t at = 0; at < width; at += kPanel) {
      const auto part = row.subspan(at, std::min(kPanel, width - at));
      float* const to = panels + (static_cast<int64_t>(at / kPanel) * count + i) * kPanelColumns;
      std::fill(std::copy(part.begin(), part.end(), to), to + kPanel, 0.0F);
    }
  });
  ApplyTransposedPanels(dlogits, panels, dx, first == 0 ? Into::kStore : Into::kAdd);
}

template <class T>
void FrozenHead<T>::Logits(ConstView<T> x, View<T> logits) const {
  if (exact_) {
    exact_(x, logits);
    return;
  }
  Matrix<T> tile;
  for (int64_t first = 0; first < rows_; first += kTileRows) {
    const int64_t count = std::min(kTileRows, rows_ - first);
    WidenTile(first, count, tile);
    ApplyWeights<T>(x, tile, logits.Columns(first, count));
  }
  if (softcap_ == 0) return;
  for (int64_t r = 0; r < logits.rows; ++r) {
    for (int64_t i = 0; i < rows_; ++i) {
      logits.Row(r)[i] = softcap_ * std::tanh(logits.Row(r)[i] / softcap_);
    }
  }
}

template <class T>
void FrozenHead<T>::Gradient(ConstView<T> logits, View<T> dlogits, View<T> dx) const {
  if (softcap_ != 0) {
    for (int64_t r = 0; r < dlogits.rows; ++r) {
      for (int64_t i = 0; i < rows_; ++i) {
        const T share = logits.Row(r)[i] / softcap_;
        dlogits.Row(r)[i] *= 1 - share * share;
      }
    }
  }
  Matrix<T> tile;
  for (int64_t first = 0; first < rows_; first += kTileRows) {
    const int64_t count = std::min(kTileRows, rows_ - first);
    TileGradient(first, dlogits.Columns(first, count), dx, tile);
  }
}

void RowLosses::Append(const RowLosses& other) {
  loss.insert(loss.end(), other.loss.begin(), other.loss.end());
  hit.insert(hit.end(), other.hit.begin(), other.hit.end());
  probability.insert(probability.end(), other.probability.begin(), other.probability.end());
}

template <class T>
RowLosses LossOfRows(const FrozenHead<T>& head, ConstView<T> vectors, const TrainingPage& page,
                     const Objective& objective, const StepLabels& labels, double weight,
                     View<T> dvectors) {
  const auto rows = static_cast<size_t>(vectors.rows);
  assert(labels.index.size() == rows);
  RowLosses out = {std::vector<double>(rows), std::vector<uint8_t>(rows),
                   std::vector<double>(rows)};
  Matrix<T> logits, kept;
  for (int64_t first = 0; first < vectors.rows; first += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, vectors.rows - first);
    logits.Reuse(count, head.size());
    head.Logits(vectors.Rows(first, count), logits);
    if (head.capped()) kept = logits;  // the gradient needs both
    ParallelFor(count, [&](int64_t i) {
      const auto row = static_cast<size_t>(first + i);
      LossOfRow(logits.Row(i), head.size(), WantedOf(page, objective, labels, row),
                labels.place[row], labels.counts[row] != 0 ? weight : 0, out, row);
    });
    if (dvectors.data != nullptr) {
      head.Gradient(kept, logits, dvectors.Rows(first, count));
    }
  }
  return out;
}

template class FrozenHead<float>;
template class FrozenHead<double>;
template RowLosses LossOfRows(const FrozenHead<float>&, ConstView<float>, const TrainingPage&,
                              const Objective&, const StepLabels&, double, View<float>);
template RowLosses LossOfRows(const FrozenHead<double>&, ConstView<double>, const TrainingPage&,
                              const Objective&, const StepLabels&, double, View<double>);

}  // namespace platen
