#include "model/training/from_scratch/mtp_shape.h"

#include <cmath>

#include "model/training/from_scratch/split_mix.h"

namespace platen {
namespace {

class Builder {
 public:
  explicit Builder(MtpShape& shape) : shape_(shape), tensors_(shape.draft, "") {}

  size_t Vector(const std::string& name, int64_t size, MtpShape::Start start) {
    shape_.starts.push_back(start);
    return tensors_.AddVector(name, size);
  }
  WeightPart Matrix(const std::string& name, int64_t rows, int64_t columns, double width) {
    shape_.starts.push_back({.width = width});
    return tensors_.AddMatrix(name, rows, columns);
  }
  // With a bias that begins as wide as the weights.
  Affine Linear(const std::string& name, int64_t rows, int64_t columns) {
    const double width = 1 / std::sqrt(static_cast<double>(columns));
    const WeightPart weight = Matrix(name + ".weight", rows, columns, width);
    return {weight, Vector(name + ".bias", rows, {.width = width})};
  }
  LayerNormShape Norm(const std::string& name, int64_t width) {
    const size_t weight = Vector(name + ".weight", width, {.constant = 1});
    return {weight, Vector(name + ".bias", width, {})};
  }

 private:
  MtpShape& shape_;
  DraftShapeBuilder tensors_;
};

EncoderShape MakeEncoder(Builder& build, int64_t d, int64_t inner) {
  EncoderShape block;
  const std::string attention = "transformer.self_attn.";
  block.value.weight = build.Matrix(attention + "in_proj_weight", 3 * d, d,
                                    std::sqrt(6.0 / static_cast<double>(4 * d)));
  block.value.weight.first_row = 2 * d;
  block.value.weight.rows = d;
  block.value.bias = build.Vector(attention + "in_proj_bias", 3 * d, {});
  block.output.weight =
      build.Matrix(attention + "out_proj.weight", d, d, 1 / std::sqrt(static_cast<double>(d)));
  block.output.bias = build.Vector(attention + "out_proj.bias", d, {});
  block.inner = build.Linear("transformer.linear1", inner, d);
  block.outer = build.Linear("transformer.linear2", d, inner);
  block.norm1 = build.Norm("transformer.norm1", d);
  block.norm2 = build.Norm("transformer.norm2", d);
  return block;
}

}  // namespace

MtpShape MakeMtpShape(const MtpSizes& sizes, bool learned_depth_weights) {
  MtpShape shape;
  shape.draft.hidden_size = sizes.width;
  Builder build(shape);
  shape.projection = build.Linear("projections", sizes.width, 2 * sizes.width);
  shape.block = MakeEncoder(build, sizes.width, sizes.inner);
  shape.unembedding = build.Linear("unembedding", sizes.vocabulary, sizes.width);
  // A variance of 1.
  shape.embeddings =
      build.Matrix("embeddings.weight", sizes.vocabulary, sizes.width, std::sqrt(3.0));
  if (learned_depth_weights) shape.depth_logits = build.Vector("depth_logits", sizes.depths, {});
  return shape;
}

template <class T>
void StartValues(const MtpShape& shape, uint64_t seed, Parameters<T>& parameters) {
  SplitMix random(seed);
  for (size_t t = 0; t < shape.starts.size(); ++t) {
    const auto [width, constant] = shape.starts[t];
    for (T& value : parameters.values(t)) {
      const double start = width == 0 ? constant : (2 * random.Uniform() - 1) * width;
      value = static_cast<T>(static_cast<float>(start));
    }
  }
}

template void StartValues(const MtpShape&, uint64_t, Parameters<float>&);
template void StartValues(const MtpShape&, uint64_t, Parameters<double>&);

}  // namespace platen
