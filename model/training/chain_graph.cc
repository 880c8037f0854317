#include "model/training/chain_graph.h"

#include "model/ops/parallel.h"
#include "model/training/norms.h"

namespace platen {
namespace {

template <class T>
void Add(ConstView<T> x, View<T> sum) {
  ParallelFor(x.rows, [&](int64_t r) {
    for (int64_t i = 0; i < x.cols; ++i) sum.Row(r)[i] += x.Row(r)[i];
  });
}

template <class T>
Matrix<T> CopyOf(ConstView<T> x) {
  return Converted<T>(x);
}

}  // namespace

// x = [norm(e) | norm(h)], z = E x, a = norm(z), and q, k, v of it.
template <class T>
void ChainGraph<T>::ForwardInput(const GraphPage<T>& page, int d) {
  Step& step = steps_[static_cast<size_t>(d)];
  const int64_t width = page.embeddings.cols;
  const int64_t first = d == 0 ? 0 : chain_.first_base;
  const int64_t texts = RowsOfStep(page.prompt, page.length(), d);
  const int64_t rows = d == 0 && texts > 0 ? chain_.first_base + texts : texts;
  step.embedded = page.embeddings.Rows(rows == 0 ? 0 : first + d + 1, rows);
  step.hidden = d == 0 ? page.hidden.Rows(0, rows)
                       : Chained(steps_[static_cast<size_t>(d) - 1]).View().Rows(0, rows);
  step.joined.Resize(rows, 2 * width);
  NormRows<T>(step.embedded, weight(shape_.enorm), eps(), step.joined.View().Columns(0, width));
  NormRows<T>(step.hidden, weight(shape_.hnorm), eps(), step.joined.View().Columns(width, width));
  step.z.Resize(rows, width);
  step.a.Resize(rows, width);
  ApplyWeights<T>(step.joined, p_.weights(shape_.eh_proj), step.z);
  NormRows<T>(step.z, weight(shape_.input_norm), eps(), step.a);
  RowPositions positions;
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    positions[axis] = page.positions[axis].subspan(static_cast<size_t>(rows == 0 ? 0 : first + d),
                                                   static_cast<size_t>(rows));
  }
  step.qkv.Forward(shape_.attention, p_, step.a, positions, rows - texts,
                   chain_.steps[static_cast<size_t>(d)]);
}

template <class T>
void ChainGraph<T>::AddBranch(ConstView<T> branch, const std::optional<size_t>& norm,
                              View<T> sum) const {
  if (!norm) {
    Add<T>(branch, sum);
    return;
  }
  Matrix<T> normed(branch.rows, branch.cols);
  NormRows<T>(branch, weight(*norm), eps(), normed);
  Add<T>(normed, sum);
}

template <class T>
void ChainGraph<T>::ForwardLayer(int d) {
  Step& step = steps_[static_cast<size_t>(d)];
  const DraftAttention& attention = shape_.attention;
  const int64_t rows = chain_.steps[static_cast<size_t>(d)].q.rows(), width = step.z.cols();
  step.ctx.Resize(rows, int64_t{attention.heads} * attention.value_width);
  AttendChain<T>(attention, chain_, static_cast<size_t>(d), step.ctx);
  step.o.Resize(rows, width);
  ApplyWeights<T>(step.ctx, p_.weights(attention.output), step.o);
  if (attention.latent && attention.latent->output_bias) {
    const auto bias = p_.values(*attention.latent->output_bias);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < width; ++i) step.o.Row(r)[i] += bias[static_cast<size_t>(i)];
    }
  }
  step.s = CopyOf<T>(step.z.View().Rows(step.z.rows() - rows, rows));
  AddBranch(step.o, shape_.attention_branch_norm, step.s);
  step.m.Resize(rows, width);
  step.w.Resize(rows, width);
  NormRows<T>(step.s, weight(shape_.mlp_norm), eps(), step.m);
  if (shape_.mlp) {
    step.mlp.Forward(*shape_.mlp, p_, step.m, step.w);
  } else {
    step.experts.Forward(*shape_.experts, p_, step.m, step.w);
  }
  step.u = step.s;
  AddBranch(step.w, shape_.mlp_branch_norm, step.u);
  step.normed.Resize(rows, width);
  NormRows<T>(step.u, weight(shape_.head_norm), eps(), step.normed);
}

template <class T>
void ChainGraph<T>::Forward(const GraphPage<T>& page, int steps) {
  steps_.clear();
  steps_.resize(static_cast<size_t>(steps));
  chain_.first_base = page.prompt - 1;
  chain_.steps.assign(static_cast<size_t>(steps), {});
  for (int d = 0; d < steps; ++d) {
    ForwardInput(page, d);
    ForwardLayer(d);
  }
}

template <class T>
void ChainGraph<T>::PrepareGradients() {
  dchain_.first_base = chain_.first_base;
  dchain_.steps.assign(chain_.steps.size(), {});
  dchained_.clear();
  for (size_t d = 0; d < steps_.size(); ++d) {
    const QkvRows<T>& rows = chain_.steps[d];
    dchain_.steps[d].q.Resize(rows.q.rows(), rows.q.cols());
    dchain_.steps[d].k.Resize(rows.k.rows(), rows.k.cols());
    dchain_.steps[d].v.Resize(rows.v.rows(), rows.v.cols());
    dchained_.emplace_back(steps_[d].u.rows(), steps_[d].u.cols());
  }
}

// The gradient at a branch, given the one at the sum it was added to.
template <class T>
Matrix<T> ChainGraph<T>::BranchGradient(ConstView<T> branch, const std::optional<size_t>& norm,
                                        ConstView<T> dsum) {
  if (!norm) return CopyOf<T>(dsum);
  Matrix<T> d(branch.rows, branch.cols);
  NormGradient<T>(branch, weight(*norm), eps(), dsum, d, Into::kStore, p_.gradient_or_null(*norm));
  return d;
}

// From the gradient at the normed output down to queries, keys and values; ds becomes that at the
// layer's input, as far as the residual stream brings it.
template <class T>
void ChainGraph<T>::LayerBackward(int d, ConstView<T> dnormed, Matrix<T>& ds) {
  Step& step = steps_[static_cast<size_t>(d)];
  const DraftAttention& attention = shape_.attention;
  NormGradient<T>(step.u, weight(shape_.head_norm), eps(), dnormed, ds, Into::kAdd,
                  p_.gradient_or_null(shape_.head_norm));
  const Matrix<T> dw = BranchGradient(step.w, shape_.mlp_branch_norm, ds);
  Matrix<T> dm(step.m.rows(), step.m.cols());
  if (shape_.mlp) {
    step.mlp.Backward(*shape_.mlp, p_, step.m, dw, dm);
  } else {
    step.experts.Backward(*shape_.experts, p_, step.m, dw, dm);
  }
  NormGradient<T>(step.s, weight(shape_.mlp_norm), eps(), dm, ds, Into::kAdd,
                  p_.gradient_or_null(shape_.mlp_norm));
  const Matrix<T> d_o = BranchGradient(step.o, shape_.attention_branch_norm, ds);
  AddWeightGradient<T>(d_o, step.ctx, p_.weight_gradient(attention.output));
  if (attention.latent && attention.latent->output_bias) {
    const auto bias = p_.gradient(*attention.latent->output_bias);
    for (int64_t r = 0; r < d_o.rows(); ++r) {
      for (int64_t i = 0; i < d_o.cols(); ++i) bias[static_cast<size_t>(i)] += d_o.Row(r)[i];
    }
  }
  Matrix<T> dctx(step.ctx.rows(), step.ctx.cols());
  ApplyTransposed<T>(d_o, p_.weights(attention.output), dctx);
  AttendChainGradient<T>(attention, chain_, static_cast<size_t>(d), dctx, dchain_);
}

// Later steps have added all they had to this step's keys and values by now.
template <class T>
void ChainGraph<T>::InputBackward(int d, ConstView<T> ds) {
  Step& step = steps_[static_cast<size_t>(d)];
  const int64_t rows = step.z.rows(), width = step.z.cols();
  Matrix<T> da(rows, width), dz(rows, width), djoined(rows, 2 * width);
  step.qkv.Backward(shape_.attention, p_, step.a, dchain_.steps[static_cast<size_t>(d)], da);
  Add<T>(ds, dz.View().Rows(rows - ds.rows, ds.rows));
  NormGradient<T>(step.z, weight(shape_.input_norm), eps(), da, dz, Into::kAdd,
                  p_.gradient_or_null(shape_.input_norm));
  AddWeightGradient<T>(dz, step.joined, p_.weight_gradient(shape_.eh_proj));
  ApplyTransposed<T>(dz, p_.weights(shape_.eh_proj), djoined);
  const View<T> dembedded = djoined.View().Columns(0, width);
  const View<T> dhidden = djoined.View().Columns(width, width);
  NormGradient<T>(step.embedded, weight(shape_.enorm), eps(), dembedded, dembedded, Into::kStore,
                  p_.gradient_or_null(shape_.enorm));
  NormGradient<T>(step.hidden, weight(shape_.hnorm), eps(), dhidden, dhidden, Into::kStore,
                  p_.gradient_or_null(shape_.hnorm));
  if (d > 0) Add<T>(dhidden, dchained_[static_cast<size_t>(d) - 1].View().Rows(0, rows));
}

template <class T>
void ChainGraph<T>::Backward(std::span<const Matrix<T>> dvectors) {
  PrepareGradients();
  for (size_t d = steps_.size(); d-- > 0;) {
    Matrix<T> dnormed = dvectors[d];
    Matrix<T> ds(dnormed.rows(), dnormed.cols());
    Add<T>(dchained_[d], chain_on_ == ChainOn::kNormed ? dnormed.View() : ds.View());
    LayerBackward(static_cast<int>(d), dnormed, ds);
    InputBackward(static_cast<int>(d), ds);
  }
}

template class ChainGraph<float>;
template class ChainGraph<double>;

}  // namespace platen
