// How the parts of the network are described in the module table: names, aliases, epsilons.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/checkpoint/module_table.h"
#include "model/families/pp_doclayout/modules.h"

namespace platen::pp_doclayout {

// How a convolution and its batch norm are called below the same prefix.
struct UnitNames {
  const char* kernel;
  const char* norm;
};
inline constexpr UnitNames kBackboneNames = {"convolution", "normalization"};
inline constexpr UnitNames kNeckNames = {"conv", "norm"};
inline constexpr UnitNames kSequenceNames = {"0", "1"};

// "name.3"
std::string Numbered(const std::string& name, int64_t i);

// Gives a module the other names of its tensors.
void Alias(Module& module);

// One part of the network: names below a prefix under one heading, batch norms with one epsilon.
class Part {
 public:
  Part(Weights& weights, ModuleTable& table, std::string prefix, const char* section,
       const UnitNames& names, float eps)
      : weights_(weights),
        table_(table),
        prefix_(std::move(prefix)),
        section_(section),
        names_(names),
        eps_(eps) {}

  // The same under other names.
  Part With(const UnitNames& names, float eps) const {
    return {weights_, table_, prefix_, section_, names, eps};
  }

  void Conv(ConvUnit& unit, const std::string& name, const ConvWindow& window, int64_t in,
            int64_t out) {
    unit.window = window;
    weights_.convs.push_back(&unit);
    Stored(unit.stored, name, {out, in, window.kernel, window.kernel});
  }
  void Rep(RepUnit& unit, const std::string& name, int64_t channels) {
    weights_.reps.push_back(&unit);
    Stored(unit.stored3x3, name + ".conv1", {channels, channels, 3, 3});
    Stored(unit.stored1x1, name + ".conv2", {channels, channels, 1, 1});
  }
  void Depthwise(DepthwiseUnit& unit, const std::string& name, const ConvWindow& window,
                 int64_t channels) {
    unit.window = window;
    weights_.depthwise.push_back(&unit);
    Stored(unit.stored, name, {channels, 1, window.kernel, window.kernel});
  }
  void Norm(LayerNormWeights& norm, const std::string& name, int64_t size) {
    Alias(Scope().AddVector(norm.weight, name + ".weight", size));
    Alias(Scope().AddVector(norm.bias, name + ".bias", size));
  }
  // NAME.layers.0 .. N: widths[i] -> widths[i + 1].
  void Layers(Mlp& mlp, const std::string& name, const std::vector<int64_t>& widths) {
    mlp.resize(widths.size() - 1);
    for (size_t i = 0; i < mlp.size(); ++i) {
      Matrix(mlp[i], Numbered(name + ".layers", static_cast<int64_t>(i)), widths[i + 1], widths[i]);
    }
  }
  void Matrix(Linear& linear, const std::string& name, int64_t out, int64_t in) {
    Alias(Scope().AddLinear(linear, name, {out, in}, ModuleScope::Bias::kStored));
  }
  void Pointwise(Linear& linear, const std::string& name, int64_t out, int64_t in) {
    Scope().AddLinear(linear, name, {out, in, 1, 1}, ModuleScope::Bias::kStored);
  }
  void Stacked(Linear& linear, const std::string& name, const std::vector<ModuleScope::Part>& parts,
               int64_t depth) {
    Alias(Scope().AddStacked(linear, name, parts, depth, ModuleScope::Bias::kStored));
  }
  void Attention(AttentionWeights& attention, const std::string& name, int64_t width) {
    Stacked(attention.qk, name + ".qk", {{name + ".q_proj", width}, {name + ".k_proj", width}},
            width);
    Matrix(attention.v, name + ".v_proj", width, width);
    Matrix(attention.out, name + ".out_proj", width, width);
  }

 private:
  ModuleScope Scope() { return {table_, prefix_, section_, RowsOf::kPatch}; }

  void Stored(StoredConv& conv, const std::string& name, std::vector<int64_t> shape) {
    const int64_t channels = shape[0];
    TensorSpec spec = {prefix_ + name + "." + names_.kernel + ".weight", std::move(shape)};
    const std::string module = spec.name;
    table_.Add({.name = module, .section = section_, .member = &conv.kernel, .weights = {spec}});
    conv.norm.eps = eps_;
    conv.norm.name = prefix_ + name + "." + names_.norm;
    const std::string norm = name + "." + names_.norm;
    Scope().AddVector(conv.norm.weight, norm + ".weight", channels);
    Scope().AddVector(conv.norm.bias, norm + ".bias", channels);
    Scope().AddVector(conv.norm.mean, norm + ".running_mean", channels);
    Scope().AddVector(conv.norm.variance, norm + ".running_var", channels);
  }

  Weights& weights_;
  ModuleTable& table_;
  std::string prefix_;
  const char* section_;
  UnitNames names_;
  float eps_;
};

}  // namespace platen::pp_doclayout
