#include "model/training/chain_graph.h"

#include <algorithm>
#include <utility>

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

// Calls visit(range) for one block of the slots after the other.
template <class Visit>
void ForBlocks(int64_t slots, int64_t most, const Visit& visit) {
  for (int64_t first = 0; first < slots; first += most) {
    visit(Range{first, std::min(most, slots - first)});
  }
}

}  // namespace

// x = [norm(e) | norm(h)]
template <class T>
void ChainGraph<T>::JoinInputs(ConstView<T> embedded, ConstView<T> hidden,
                               Matrix<T>& joined) const {
  const int64_t width = embedded.cols;
  joined.Reuse(embedded.rows, 2 * width);
  NormRows<T>(embedded, weight(shape_.enorm), eps(), joined.View().Columns(0, width));
  NormRows<T>(hidden, weight(shape_.hnorm), eps(), joined.View().Columns(width, width));
}

// Of z = E x; the second half of djoined becomes the gradient at `hidden`.
template <class T>
void ChainGraph<T>::InputsGradient(ConstView<T> embedded, ConstView<T> hidden, ConstView<T> joined,
                                   ConstView<T> dz, Matrix<T>& djoined) {
  const int64_t width = embedded.cols;
  djoined.Reuse(dz.rows, 2 * width);
  AddWeightGradient<T>(dz, joined, p_.weight_gradient(shape_.eh_proj));
  ApplyTransposed<T>(dz, p_.weights(shape_.eh_proj), djoined);
  const View<T> dembedded = djoined.View().Columns(0, width);
  const View<T> dhidden = djoined.View().Columns(width, width);
  NormGradient<T>(embedded, weight(shape_.enorm), eps(), dembedded, dembedded, Into::kStore,
                  p_.gradient_or_null(shape_.enorm));
  NormGradient<T>(hidden, weight(shape_.hnorm), eps(), dhidden, dhidden, Into::kStore,
                  p_.gradient_or_null(shape_.hnorm));
}

template <class T>
RowPositions ChainGraph<T>::PositionsOf(int64_t slot, int64_t count) const {
  RowPositions positions;
  for (size_t axis = 0; axis < positions.size(); ++axis) {
    positions[axis] =
        page_.positions[axis].subspan(static_cast<size_t>(slot), static_cast<size_t>(count));
  }
  return positions;
}

// z = E x, and k and v of a = norm(z), of some slots of step 0.
template <class T>
void ChainGraph<T>::KeysOfSlots(Range slots) {
  const auto [first, count] = slots;
  Matrix<T> joined, a(count, page_.embeddings.cols);
  JoinInputs(page_.embeddings.Rows(first + 1, count), page_.hidden.Rows(first, count), joined);
  const View<T> z = z_.View().Rows(first, count);
  ApplyWeights<T>(joined, p_.weights(shape_.eh_proj), z);
  NormRows<T>(z, weight(shape_.input_norm), eps(), a);
  KeysGradient<T> keys;
  keys.Forward(shape_.attention, p_, a, PositionsOf(first, count),
               chain_.steps[0].k.View().Rows(first, count),
               chain_.steps[0].v.View().Rows(first, count));
}

template <class T>
void ChainGraph<T>::Begin(const GraphPage<T>& page, int steps, int64_t most_rows) {
  page_ = page;
  most_rows_ = most_rows;
  const int64_t rows = RowsOfStep(page.prompt, page.length(), 0);
  slots_ = rows > 0 ? page.prompt - 1 + rows : 0;
  steps_.clear();
  steps_.resize(static_cast<size_t>(steps));
  chain_.steps.assign(static_cast<size_t>(steps), {});
  dchain_.steps.assign(static_cast<size_t>(steps), {});
  if (steps == 0) return;
  const DraftAttention& attention = shape_.attention;
  const int64_t keys = int64_t{attention.kv_heads} * attention.key_width();
  const int64_t values = int64_t{attention.kv_heads} * attention.value_width;
  chain_.steps[0].k.Reuse(slots_, keys);
  chain_.steps[0].v.Reuse(slots_, values);
  dchain_.steps[0].k.Resize(slots_, keys);
  dchain_.steps[0].v.Resize(slots_, values);
  z_.Reuse(slots_, page.embeddings.cols);
  dz_.Resize(rows, page.embeddings.cols);
  ForBlocks(slots_, most_rows_, [&](Range slots) { KeysOfSlots(slots); });
}

// z = E x, a = norm(z), and the queries of it; of later steps keys and values, too.
template <class T>
void ChainGraph<T>::ForwardInput(int d) {
  Step& step = steps_[static_cast<size_t>(d)];
  const int64_t slot = page_.prompt - 1 + first_;
  const int64_t rows = RowsOfBlock(page_.prompt, page_.length(), d, first_, count_).count;
  const int64_t width = page_.embeddings.cols;
  QkvRows<T>& qkv = chain_.steps[static_cast<size_t>(d)];
  step.z.Reuse(rows, width);
  step.a.Reuse(rows, width);
  if (d == 0) {
    for (int64_t r = 0; r < rows; ++r) std::copy_n(z_.Row(slot + r), width, step.z.Row(r));
  } else {
    step.embedded = page_.embeddings.Rows(rows == 0 ? 0 : slot + d + 1, rows);
    step.hidden = Chained(steps_[static_cast<size_t>(d) - 1]).View().Rows(0, rows);
    JoinInputs(step.embedded, step.hidden, step.joined);
    ApplyWeights<T>(step.joined, p_.weights(shape_.eh_proj), step.z);
  }
  NormRows<T>(step.z, weight(shape_.input_norm), eps(), step.a);
  const RowPositions positions = PositionsOf(rows == 0 ? 0 : slot + d, rows);
  step.queries.Forward(shape_.attention, p_, step.a, positions, qkv.q);
  if (d == 0) return;
  qkv.k.Reuse(rows, int64_t{shape_.attention.kv_heads} * shape_.attention.key_width());
  qkv.v.Reuse(rows, int64_t{shape_.attention.kv_heads} * shape_.attention.value_width);
  step.keys.Forward(shape_.attention, p_, step.a, positions, qkv.k, qkv.v);
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
  step.ctx.Reuse(rows, int64_t{attention.heads} * attention.value_width);
  AttendChain<T>(attention, chain_, static_cast<size_t>(d), step.ctx);
  step.o.Reuse(rows, width);
  ApplyWeights<T>(step.ctx, p_.weights(attention.output), step.o);
  if (attention.latent && attention.latent->output_bias) {
    const auto bias = p_.values(*attention.latent->output_bias);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < width; ++i) step.o.Row(r)[i] += bias[static_cast<size_t>(i)];
    }
  }
  step.s = step.z;
  AddBranch(step.o, shape_.attention_branch_norm, step.s);
  step.m.Reuse(rows, width);
  step.w.Reuse(rows, width);
  NormRows<T>(step.s, weight(shape_.mlp_norm), eps(), step.m);
  if (shape_.mlp) {
    step.mlp.Forward(*shape_.mlp, p_, step.m, step.w);
  } else {
    step.experts.Forward(*shape_.experts, p_, step.m, step.w);
  }
  step.u = step.s;
  AddBranch(step.w, shape_.mlp_branch_norm, step.u);
  step.normed.Reuse(rows, width);
  NormRows<T>(step.u, weight(shape_.head_norm), eps(), step.normed);
}

template <class T>
void ChainGraph<T>::Forward(int64_t first, int64_t count) {
  first_ = first;
  count_ = count;
  chain_.first_base = page_.prompt - 1 + first;
  for (int d = 0; d < static_cast<int>(steps_.size()); ++d) {
    ForwardInput(d);
    ForwardLayer(d);
  }
}

template <class T>
void ChainGraph<T>::PrepareGradients() {
  dchain_.first_base = chain_.first_base;
  dchained_.clear();
  for (size_t d = 0; d < steps_.size(); ++d) {
    const QkvRows<T>& rows = chain_.steps[d];
    dchain_.steps[d].q.Reuse(rows.q.rows(), rows.q.cols());
    dchained_.emplace_back(steps_[d].u.rows(), steps_[d].u.cols());
    if (d == 0) continue;  // of the page: grown by every block
    dchain_.steps[d].k.Resize(rows.k.rows(), rows.k.cols());
    dchain_.steps[d].v.Resize(rows.v.rows(), rows.v.cols());
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

// Later steps have added all they had to this step's keys and values by now. At step 0 those wait
// for the other blocks.
template <class T>
void ChainGraph<T>::InputBackward(int d, ConstView<T> ds) {
  Step& step = steps_[static_cast<size_t>(d)];
  const int64_t rows = step.z.rows(), width = step.z.cols();
  QkvRows<T>& dqkv = dchain_.steps[static_cast<size_t>(d)];
  Matrix<T> da(rows, width);
  step.queries.Backward(shape_.attention, p_, step.a, std::move(dqkv.q), da);
  if (d > 0) step.keys.Backward(shape_.attention, p_, step.a, dqkv.k, dqkv.v, da);
  Matrix<T> dz = CopyOf<T>(ds);
  NormGradient<T>(step.z, weight(shape_.input_norm), eps(), da, dz, Into::kAdd,
                  p_.gradient_or_null(shape_.input_norm));
  if (d == 0) {
    Add<T>(dz, dz_.View().Rows(first_, rows));
    return;
  }
  Matrix<T> djoined;
  InputsGradient(step.embedded, step.hidden, step.joined, dz, djoined);
  Add<T>(djoined.View().Columns(width, width),
         dchained_[static_cast<size_t>(d) - 1].View().Rows(0, rows));
}

template <class T>
void ChainGraph<T>::Backward(std::span<const ConstView<T>> dvectors) {
  PrepareGradients();
  for (size_t d = steps_.size(); d-- > 0;) {
    Matrix<T> dnormed = CopyOf<T>(dvectors[d]);
    Matrix<T> ds(dnormed.rows(), dnormed.cols());
    Add<T>(dchained_[d], chain_on_ == ChainOn::kNormed ? dnormed.View() : ds.View());
    LayerBackward(static_cast<int>(d), dnormed, ds);
    InputBackward(static_cast<int>(d), ds);
  }
}

template <class T>
void ChainGraph<T>::KeysOfSlotsGradient(Range slots) {
  const auto [first, count] = slots;
  const int64_t width = page_.embeddings.cols;
  const ConstView<T> z = z_.View().Rows(first, count);
  Matrix<T> joined, djoined, a(count, width), da(count, width), dz(count, width);
  NormRows<T>(z, weight(shape_.input_norm), eps(), a);
  KeysGradient<T> keys;
  keys.Recall(shape_.attention, p_, a, PositionsOf(first, count));
  keys.Backward(shape_.attention, p_, a, dchain_.steps[0].k.View().Rows(first, count),
                dchain_.steps[0].v.View().Rows(first, count), da);
  for (int64_t r = std::max<int64_t>(0, page_.prompt - 1 - first); r < count; ++r) {
    std::copy_n(dz_.Row(first + r - (page_.prompt - 1)), width, dz.Row(r));
  }
  NormGradient<T>(z, weight(shape_.input_norm), eps(), da, dz, Into::kAdd,
                  p_.gradient_or_null(shape_.input_norm));
  const ConstView<T> embedded = page_.embeddings.Rows(first + 1, count);
  const ConstView<T> hidden = page_.hidden.Rows(first, count);
  JoinInputs(embedded, hidden, joined);
  InputsGradient(embedded, hidden, joined, dz, djoined);
}

template <class T>
void ChainGraph<T>::Finish() {
  if (steps_.empty()) return;
  ForBlocks(slots_, most_rows_, [&](Range slots) { KeysOfSlotsGradient(slots); });
}

template class ChainGraph<float>;
template class ChainGraph<double>;

}  // namespace platen
