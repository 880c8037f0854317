#include "model/training/chain_attention.h"

#include <algorithm>
#include <cmath>

#include "model/ops/parallel.h"
#include "model/support/ceil_div.h"
#include "model/training/vector_math.h"

namespace platen {
namespace {

// Of a query head. With fewer rows, copying the keys for the products takes much of the time.
constexpr int64_t kTileRows = 128;

// Some rows of one query head.
struct Tile {
  int head = 0;
  int64_t first = 0;
  int64_t rows = 0;
};

template <class T>
class HeadOfChain {
 public:
  HeadOfChain(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step, int head)
      : chain_(chain),
        step_(step),
        head_(head),
        kv_head_(head / (attention.heads / attention.kv_heads)),
        key_(attention.key_width()),
        value_(attention.value_width),
        scale_(static_cast<T>(attention.scale)) {}

  // Keys of step 0 that the last of these rows sees.
  int64_t Keys(int64_t first, int64_t rows) const { return chain_.first_base + first + rows; }

  ConstView<T> Queries(int64_t first, int64_t rows) const {
    return chain_.steps[step_].q.View().Rows(first, rows).Columns(head_ * key_, key_);
  }
  ConstView<T> FirstKeys(int64_t keys) const {
    return chain_.steps[0].k.View().Rows(0, keys).Columns(kv_head_ * key_, key_);
  }
  ConstView<T> FirstValues(int64_t keys) const {
    return chain_.steps[0].v.View().Rows(0, keys).Columns(kv_head_ * value_, value_);
  }
  const T* ChainKey(size_t t, int64_t row) const {
    return chain_.steps[t].k.Row(row) + kv_head_ * key_;
  }
  const T* ChainValue(size_t t, int64_t row) const {
    return chain_.steps[t].v.Row(row) + kv_head_ * value_;
  }

  // p [rows, keys + step]: of keys of step 0, then of the row's own chain.
  void Probabilities(int64_t first, int64_t rows, Matrix<T>& p) const {
    const int64_t keys = Keys(first, rows);
    p.Reuse(rows, keys + static_cast<int64_t>(step_));
    const ConstView<T> q = Queries(first, rows);
    MultiplyHere<T>(scale_, q, Operand::kPlain, FirstKeys(keys), Operand::kTransposed, 0,
                    p.View().Columns(0, keys));
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t seen = chain_.first_base + first + r + 1;
      T* row = p.Row(r);
      for (size_t t = 1; t <= step_; ++t) {
        row[keys + static_cast<int64_t>(t) - 1] =
            scale_ * DotProduct<T>(q.Row(r), ChainKey(t, first + r), key_);
      }
      Softmax(row, seen, keys, p.cols());
    }
  }

 private:
  // Over places 0 .. seen - 1 and keys .. end - 1; those between become 0.
  static void Softmax(T* row, int64_t seen, int64_t keys, int64_t end) {
    T largest = LargestOf<T>(row, seen);
    for (int64_t i = keys; i < end; ++i) largest = std::max(largest, row[i]);
    const double sum = ExponentialsAndSum<T>(largest, seen, row) +
                       ExponentialsAndSum<T>(largest, end - keys, row + keys);
    std::fill(row + seen, row + keys, T{0});
    const T share = static_cast<T>(1 / sum);
    for (int64_t i = 0; i < end; ++i) row[i] *= share;
  }

  const ChainSteps<T>& chain_;
  const size_t step_;
  const int64_t head_, kv_head_, key_, value_;
  const T scale_;
};

template <class T>
void AddScaled(T scale, const T* x, int64_t n, T* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += scale * x[i];
}

// The gradients of one tile.
template <class T>
class TileGradient {
 public:
  TileGradient(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step,
               const Tile& tile, ChainSteps<T>& d)
      : attention_(attention),
        head_(attention, chain, step, tile.head),
        step_(step),
        tile_(tile),
        d_(d) {}

  void Run(ConstView<T> dctx) {
    const int64_t keys = head_.Keys(tile_.first, tile_.rows);
    head_.Probabilities(tile_.first, tile_.rows, p_);
    const ConstView<T> dout =
        dctx.Rows(tile_.first, tile_.rows).Columns(tile_.head * value(), value());
    AddToValues(dout, keys);
    ScoreGradients(dout, keys);
    AddToQueriesAndKeys(keys);
  }

 private:
  int64_t key() const { return attention_.key_width(); }
  int64_t value() const { return attention_.value_width; }
  int64_t kv_head() const { return tile_.head / (attention_.heads / attention_.kv_heads); }
  T* DChainKey(size_t t, int64_t r) {
    return d_.steps[t].k.Row(tile_.first + r) + kv_head() * key();
  }
  T* DChainValue(size_t t, int64_t r) {
    return d_.steps[t].v.Row(tile_.first + r) + kv_head() * value();
  }

  void AddToValues(ConstView<T> dout, int64_t keys) {
    MultiplyHere<T>(1, p_.View().Columns(0, keys), Operand::kTransposed, dout, Operand::kPlain, 1,
                    d_.steps[0].v.View().Rows(0, keys).Columns(kv_head() * value(), value()));
    for (size_t t = 1; t <= step_; ++t) {
      for (int64_t r = 0; r < tile_.rows; ++r) {
        AddScaled(p_.Row(r)[keys + static_cast<int64_t>(t) - 1], dout.Row(r), value(),
                  DChainValue(t, r));
      }
    }
  }

  // ds = p (dp - sum p dp) scale
  void ScoreGradients(ConstView<T> dout, int64_t keys) {
    ds_.Reuse(p_.rows(), p_.cols());
    MultiplyHere<T>(1, dout, Operand::kPlain, head_.FirstValues(keys), Operand::kTransposed, 0,
                    ds_.View().Columns(0, keys));
    const T scale = static_cast<T>(attention_.scale);
    for (int64_t r = 0; r < tile_.rows; ++r) {
      T* ds = ds_.Row(r);
      const T* p = p_.Row(r);
      for (size_t t = 1; t <= step_; ++t) {
        ds[keys + static_cast<int64_t>(t) - 1] =
            DotProduct<T>(dout.Row(r), head_.ChainValue(t, tile_.first + r), value());
      }
      const T mean = DotProduct<T>(p, ds, p_.cols());
      for (int64_t i = 0; i < p_.cols(); ++i) ds[i] = p[i] * (ds[i] - mean) * scale;
    }
  }

  void AddToQueriesAndKeys(int64_t keys) {
    const ConstView<T> q = head_.Queries(tile_.first, tile_.rows);
    const View<T> dq =
        d_.steps[step_].q.View().Rows(tile_.first, tile_.rows).Columns(tile_.head * key(), key());
    const ConstView<T> ds = ds_.View().Columns(0, keys);
    MultiplyHere<T>(1, ds, Operand::kPlain, head_.FirstKeys(keys), Operand::kPlain, 0, dq);
    MultiplyHere<T>(1, ds, Operand::kTransposed, q, Operand::kPlain, 1,
                    d_.steps[0].k.View().Rows(0, keys).Columns(kv_head() * key(), key()));
    for (size_t t = 1; t <= step_; ++t) {
      for (int64_t r = 0; r < tile_.rows; ++r) {
        const T s = ds_.Row(r)[keys + static_cast<int64_t>(t) - 1];
        AddScaled(s, head_.ChainKey(t, tile_.first + r), key(), dq.Row(r));
        AddScaled(s, q.Row(r), key(), DChainKey(t, r));
      }
    }
  }

  const DraftAttention& attention_;
  const HeadOfChain<T> head_;
  const size_t step_;
  const Tile tile_;
  ChainSteps<T>& d_;
  Matrix<T> p_, ds_;
};

}  // namespace

template <class T>
void AttendChain(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step,
                 View<T> ctx) {
  const int64_t tiles = CeilDiv(ctx.rows, kTileRows);
  const int64_t width = attention.value_width;
  ParallelFor(attention.heads * tiles, [&](int64_t i) {
    const auto h = static_cast<int>(i / tiles);
    const int64_t first = i % tiles * kTileRows, rows = std::min(kTileRows, ctx.rows - first);
    const HeadOfChain<T> head(attention, chain, step, h);
    Matrix<T> p;
    head.Probabilities(first, rows, p);
    const int64_t keys = head.Keys(first, rows);
    const View<T> out = ctx.Rows(first, rows).Columns(h * width, width);
    MultiplyHere<T>(1, p.View().Columns(0, keys), Operand::kPlain, head.FirstValues(keys),
                    Operand::kPlain, 0, out);
    for (size_t t = 1; t <= step; ++t) {
      for (int64_t r = 0; r < rows; ++r) {
        AddScaled(p.Row(r)[keys + static_cast<int64_t>(t) - 1], head.ChainValue(t, first + r),
                  width, out.Row(r));
      }
    }
  });
}

// A KV head at a time on each thread: its keys get their gradients in one order.
template <class T>
void AttendChainGradient(const DraftAttention& attention, const ChainSteps<T>& chain, size_t step,
                         ConstView<T> dctx, ChainSteps<T>& d) {
  const int group = attention.heads / attention.kv_heads;
  ParallelFor(attention.kv_heads, [&](int64_t kv_head) {
    for (int g = 0; g < group; ++g) {
      for (int64_t first = 0; first < dctx.rows; first += kTileRows) {
        const Tile tile = {static_cast<int>(kv_head) * group + g, first,
                           std::min(kTileRows, dctx.rows - first)};
        TileGradient<T>(attention, chain, step, tile, d).Run(dctx);
      }
    }
  });
}

template void AttendChain<float>(const DraftAttention&, const ChainSteps<float>&, size_t,
                                 View<float>);
template void AttendChain<double>(const DraftAttention&, const ChainSteps<double>&, size_t,
                                  View<double>);
template void AttendChainGradient<float>(const DraftAttention&, const ChainSteps<float>&, size_t,
                                         ConstView<float>, ChainSteps<float>&);
template void AttendChainGradient<double>(const DraftAttention&, const ChainSteps<double>&, size_t,
                                          ConstView<double>, ChainSteps<double>&);

}  // namespace platen
