// The small network of docs/MTP.md: its sizes, what it is asked, and its tensors.
//
// V tokens, T in a sequence, D depths, width d. Guess k of place i is made of
//   x = projection [ rms(previous) | rms(embedding of t_{i+k+1}) ],  previous = embedding of t_i
// or, in a causal chain, the block's output at depth k - 1; then
//   y = block(x), logits = unembedding(y).
// The block is one post-norm encoder layer (Vaswani et al., arXiv:1706.03762) on a sequence of one
// vector. Attention over one key gives its value, so query and key have no part in anything.
// Projection, block, unembedding and embeddings are the same at all depths.
#pragma once

#include <optional>

#include "model/training/parameters.h"

namespace platen {

struct MtpSizes {
  int64_t vocabulary = 16;  // V
  int64_t length = 16;      // T
  int64_t width = 32;       // d
  int64_t inner = 64;       // of the block's feed-forward part
  int depths = 3;           // D
};

// What a depth goes on from: the one before it, or the place's own token.
enum class MtpHeads { kCausal, kIndependent };

// What guess k of place i should say, which has been told t_{i+k+1}.
enum class MtpTarget {
  kNext,  // t_{i+k+2}
  kFed,   // t_{i+k+1}: the answer is in the question, so any data is learned, random tokens too
};

struct MtpTask {
  MtpSizes sizes;
  MtpHeads heads = MtpHeads::kCausal;
  MtpTarget target = MtpTarget::kNext;

  // How far the label of place 0 and depth 0 is away.
  int64_t offset() const { return target == MtpTarget::kNext ? 2 : 1; }
  // Places of a sequence that have a label at every depth; the others are left out at all depths.
  int64_t places() const { return sizes.length - sizes.depths - offset() + 1; }
};

// y = x w^T + b. The bias is the same rows of its tensor.
struct Affine {
  WeightPart weight;
  size_t bias = 0;
};

struct LayerNormShape {
  size_t weight = 0, bias = 0;
};

struct EncoderShape {
  Affine value;         // the last d rows of in_proj [3 d, d]; the others are never used
  Affine output;        // [d, d]
  Affine inner, outer;  // [inner, d], [d, inner]
  LayerNormShape norm1, norm2;
};

struct MtpShape {
  DraftShape draft;    // `tensors` alone
  Affine projection;   // [d, 2 d]
  EncoderShape block;  // transformer.*
  Affine unembedding;  // [V, d]
  WeightPart embeddings;
  std::optional<size_t> depth_logits;  // [D], see depth_weights.h

  // Where values begin, for every tensor: uniform in +-width, or constant where width is 0.
  struct Start {
    double width = 0, constant = 0;
  };
  std::vector<Start> starts;
};

MtpShape MakeMtpShape(const MtpSizes& sizes, bool learned_depth_weights);

// Values to begin with, rounded to float, tensor after tensor.
template <class T>
void StartValues(const MtpShape& shape, uint64_t seed, Parameters<T>& parameters);

}  // namespace platen
