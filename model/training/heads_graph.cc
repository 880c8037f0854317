#include "model/training/heads_graph.h"

#include <cassert>

#include "model/training/norms.h"

namespace platen {

template <class T>
void HeadsGraph<T>::Forward(const GraphPage<T>& page, int steps) {
  const DraftShape& shape = p_.shape();
  assert(static_cast<size_t>(steps) <= shape.heads.size());
  const int64_t width = page.hidden.cols;
  heads_.clear();
  heads_.resize(static_cast<size_t>(steps));
  for (int k = 0; k < steps; ++k) {
    const ResidualHeadShape& head_shape = shape.heads[static_cast<size_t>(k)];
    Head& head = heads_[static_cast<size_t>(k)];
    const int64_t rows = RowsOfStep(page.prompt, page.length(), k);
    head.in = k == 0 ? page.hidden.Rows(page.prompt - 1, rows)
                     : heads_[static_cast<size_t>(k) - 1].g.View().Rows(0, rows);
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
void HeadsGraph<T>::Backward(std::span<const Matrix<T>> dvectors) {
  const DraftShape& shape = p_.shape();
  Matrix<T> from_later;
  for (size_t k = heads_.size(); k-- > 0;) {
    Head& head = heads_[k];
    Matrix<T> dg = dvectors[k];
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
