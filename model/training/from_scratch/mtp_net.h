// The small network of docs/MTP.md on a batch of sequences, forward and backward.
#pragma once

#include <span>
#include <vector>

#include "model/training/from_scratch/encoder_block.h"
#include "model/training/from_scratch/token_source.h"
#include "model/training/head_loss.h"

namespace platen {

// Rows are sequence after sequence, place after place: R = B * places. Not thread-safe.
template <class T>
class MtpNet {
 public:
  // `shape` outlives the net.
  MtpNet(const MtpShape& shape, const MtpTask& task);

  const MtpTask& task() const { return task_; }

  void Forward(const Parameters<T>& p, const TokenBatch& batch);
  // [R, V] of the last Forward.
  ConstView<T> Logits(int depth) const { return at(depth).logits.View(); }
  // Of the same batch. dlogits[k]: the gradient at Logits(k). Adds to the gradients of `p`.
  void Backward(Parameters<T>& p, const TokenBatch& batch, std::span<const Matrix<T>> dlogits);

 private:
  // What Backward needs of a depth.
  struct Depth {
    Matrix<T> previous, fed;  // [R, d], before their norms
    Matrix<T> input;          // [R, 2 d]: the norms of both
    Matrix<T> x, y;           // [R, d]
    EncoderBlock<T> block;
    Matrix<T> logits;  // [R, V]
  };
  Depth& at(int depth) { return depths_[static_cast<size_t>(depth)]; }
  const Depth& at(int depth) const { return depths_[static_cast<size_t>(depth)]; }
  Matrix<T> Embed(const Parameters<T>& p, const TokenBatch& batch, int64_t offset) const;
  void AddToEmbeddings(Parameters<T>& p, const TokenBatch& batch, int64_t offset,
                       ConstView<T> gradient) const;
  bool chained(int depth) const { return depth > 0 && task_.heads == MtpHeads::kCausal; }

  const MtpShape& shape_;
  const MtpTask task_;
  const std::vector<T> ones_;  // the weights of norms that have none
  std::vector<Depth> depths_;
};

// What the rows of one depth should say.
std::vector<TokenId> LabelsOf(const MtpTask& task, const TokenBatch& batch, int depth);

// Cross-entropy of every row. dlogits, if its data is not null, gets `weight` times the gradient of
// the sum of the losses.
template <class T>
RowLosses CrossEntropy(ConstView<T> logits, std::span<const TokenId> labels, double weight,
                       View<T> dlogits);

}  // namespace platen
