#include "model/families/draft_shape.h"

#include <functional>
#include <numeric>
#include <utility>

namespace platen {

int64_t DraftTensor::size() const {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

size_t DraftShapeBuilder::AddVector(const std::string& name, int64_t size) {
  shape_.tensors.push_back({prefix_ + name, {size}});
  return shape_.tensors.size() - 1;
}

WeightPart DraftShapeBuilder::AddMatrix(const std::string& name, int64_t rows, int64_t columns) {
  shape_.tensors.push_back({prefix_ + name, {rows, columns}});
  return {shape_.tensors.size() - 1, 0, rows};
}

WeightPart DraftShapeBuilder::AddStack(const std::string& name, std::vector<int64_t> shape) {
  const int64_t rows = shape[0] * shape[1];
  shape_.tensors.push_back({prefix_ + name, std::move(shape)});
  return {shape_.tensors.size() - 1, 0, rows};
}

DraftMlp DraftShapeBuilder::AddMlp(const std::string& name, int64_t inner, Activation activation) {
  const int64_t width = shape_.hidden_size;
  DraftMlp mlp;
  mlp.activation = activation;
  mlp.gate = AddMatrix(name + "gate_proj.weight", inner, width);
  mlp.up = AddMatrix(name + "up_proj.weight", inner, width);
  mlp.down = AddMatrix(name + "down_proj.weight", width, inner);
  return mlp;
}

DraftShape ResidualHeadsShape(int count, int64_t hidden_size, int64_t inner, double norm_eps,
                              Activation activation) {
  DraftShape shape;
  shape.hidden_size = hidden_size;
  shape.norm_eps = norm_eps;
  for (int k = 0; k < count; ++k) {
    DraftShapeBuilder builder(shape, "mtp_layers." + std::to_string(k) + ".");
    ResidualHeadShape head;
    head.norm = builder.AddVector("norm.weight", hidden_size);
    head.mlp = builder.AddMlp("", inner, activation);
    shape.heads.push_back(head);
  }
  return shape;
}

}  // namespace platen
