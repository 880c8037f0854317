#include "model/training/heads_graph.h"

#include <cassert>

#include "model/training/norms.h"

namespace platen {

template <class T>
void HeadsGraph<T>::Begin(const GraphPage<T>& page, int steps, int64_t /*most_rows*/) {
  assert(static_cast<size_t>(steps) <= p_.shape().heads.size());
  page_ = page;
  heads_.clear();
  heads_.resize(static_cast<size_t>(steps));
}

template <class T>
void HeadsGraph<T>::Forward(int64_t first, int64_t count) {
  const DraftShape& shape = p_.shape();
  const int64_t width = page_.hidden.cols;
  for (size_t k = 0; k < heads_.size(); ++k) {
    const ResidualHeadShape& head_shape = shape.heads[k];
    Head& head = heads_[k];
    const int64_t rows =
        RowsOfBlock(page_.prompt, page_.length(), static_cast<int>(k), first, count).count;
    head.in = k == 0 ? page_.hidden.Rows(page_.prompt - 1 + first, rows)
                     : heads_[k - 1].g.View().Rows(0, rows);
    head.normed.Resize(rows, width);
    head.g.Resize(rows, width);
    NormRows<T>(head.in, p_.values(head_shape.norm).data(), static_cast<T>(shape.norm_eps),
                head.normed);
    head.mlp.Forward(head_shape.mlp, p_, head.normed, head.g);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < width; ++i) head.g.Row(r)[i] += head.in.Row(r)[i];
    }
  }
}

template <class T>
void HeadsGraph<T>::Backward(std::span<const ConstView<T>> dvectors) {
  const DraftShape& shape = p_.shape();
  Matrix<T> from_later;
  for (size_t k = heads_.size(); k-- > 0;) {
    Head& head = heads_[k];
    Matrix<T> dg = Converted<T>(dvectors[k]);
    for (int64_t r = 0; r < from_later.rows(); ++r) {
      for (int64_t i = 0; i < dg.cols(); ++i) dg.Row(r)[i] += from_later.Row(r)[i];
    }
    Matrix<T> dnormed(dg.rows(), dg.cols());
    head.mlp.Backward(shape.heads[k].mlp, p_, head.normed, dg, dnormed);
    NormGradient<T>(head.in, p_.values(shape.heads[k].norm).data(), static_cast<T>(shape.norm_eps),
                    dnormed, dg, Into::kAdd, p_.gradient_or_null(shape.heads[k].norm));
    from_later = std::move(dg);
  }
}

template class HeadsGraph<float>;
template class HeadsGraph<double>;

}  // namespace platen
