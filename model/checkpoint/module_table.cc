#include "model/checkpoint/module_table.h"

#include <numeric>
#include <utility>

namespace platen {
namespace {

int64_t Elements(const TensorSpec& spec) {
  if (spec.part) return spec.part->count * spec.shape.back();
  return std::accumulate(spec.shape.begin(), spec.shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

const StoredTensor* FindTensor(const Checkpoint& checkpoint, const TensorSpec& spec) {
  const StoredTensor* found = checkpoint.Find(spec.name);
  for (size_t i = 0; found == nullptr && i < spec.aliases.size(); ++i) {
    found = checkpoint.Find(spec.aliases[i]);
  }
  return found;
}

int64_t Module::num_weights() const {
  int64_t count = 0;
  for (const TensorSpec& tensor : weights) count += Elements(tensor);
  return count;
}

std::vector<std::string> ModuleTable::LinearNames() const {
  std::vector<std::string> names;
  for (const Module& module : modules_) {
    if (module.is_linear()) names.push_back(module.name);
  }
  return names;
}

void ModuleTable::SetGroupSizes(const QuantizationPlan& plan) {
  for (Module& module : modules_) {
    if (module.is_linear()) module.group_size = plan.GroupOf(module.name);
  }
}

void ModuleTable::Replace(RowsOf rows, ModuleTable other) {
  std::erase_if(modules_, [&](const Module& module) { return module.rows_of == rows; });
  for (Module& module : other.modules_) modules_.push_back(std::move(module));
  other_members_[rows] = std::move(other.members_);
}

int64_t ModuleTable::PackedBytes() const {
  int64_t bytes = 0;
  for (const Module& module : modules_) {
    if (const Linear* linear = module.linear()) bytes += static_cast<int64_t>(linear->bytes());
  }
  return bytes;
}

Module& ModuleScope::Append(Module module) {
  module.name = prefix_ + module.name;
  for (TensorSpec& tensor : module.weights) tensor.name = prefix_ + tensor.name;
  for (TensorSpec& tensor : module.biases) tensor.name = prefix_ + tensor.name;
  module.section = section_;
  module.rows_of = rows_of_;
  return table_.Add(std::move(module));
}

Module& ModuleScope::AddVector(std::vector<float>& member, const std::string& tensor,
                               int64_t size) {
  return Append({.name = tensor, .section = {}, .member = &member, .weights = {{tensor, {size}}}});
}

Module& ModuleScope::AddTable(Table& member, const std::string& tensor, int64_t rows,
                              int64_t columns) {
  return Append(
      {.name = tensor, .section = {}, .member = &member, .weights = {{tensor, {rows, columns}}}});
}

Module& ModuleScope::AddLinear(Linear& member, const std::string& name, std::vector<int64_t> shape,
                               Bias bias) {
  Module module = {.name = name, .section = {}, .member = &member, .weights = {}};
  if (bias == Bias::kStored) module.biases.push_back({name + ".bias", {shape[0]}});
  module.weights.push_back({name + ".weight", std::move(shape)});
  return Append(std::move(module));
}

Module& ModuleScope::AddPart(Linear& member, const std::string& name, const std::string& tensor,
                             std::vector<int64_t> shape, const TensorPart& part) {
  Module module = {.name = name, .section = {}, .member = &member, .weights = {}};
  module.weights.push_back({.name = tensor, .shape = std::move(shape), .part = part});
  return Append(std::move(module));
}

Module& ModuleScope::AddStacked(Linear& member, const std::string& name,
                                const std::vector<Part>& parts, int64_t depth, Bias bias) {
  Module module = {.name = name, .section = {}, .member = &member, .weights = {}};
  for (const Part& part : parts) {
    module.weights.push_back({part.name + ".weight", {part.rows, depth}});
    if (bias == Bias::kStored) module.biases.push_back({part.name + ".bias", {part.rows}});
  }
  return Append(std::move(module));
}

}  // namespace platen
