#include "model/checkpoint/tensor_check.h"

#include <set>

namespace platen {
namespace {

// False if the tensor is not there.
bool CheckShape(const TensorSpec& spec, const Checkpoint& checkpoint, TensorCheck& check,
                std::set<std::string>& known) {
  known.insert(spec.name);
  const StoredTensor* stored = FindTensor(checkpoint, spec);
  if (stored == nullptr) return false;
  known.insert(stored->name);
  if (stored->shape == spec.shape) return true;
  check.mismatched.emplace_back(
      ErrorKind::kModel,
      ErrorLocation{.file = stored->file, .field = stored->name, .offset = stored->file_offset},
      "has shape " + ShapeText(stored->shape) + ", config.json needs " + ShapeText(spec.shape));
  return true;
}

}  // namespace

std::vector<RequiredTensor> RequiredTensors(const ModuleTable& table) {
  std::vector<RequiredTensor> tensors;
  std::set<std::string> seen;
  for (const Module& module : table.modules()) {
    for (size_t i = 0; i < module.weights.size() || i < module.biases.size(); ++i) {
      for (const std::vector<TensorSpec>* list : {&module.weights, &module.biases}) {
        if (i >= list->size() || !seen.insert((*list)[i].name).second) continue;
        tensors.push_back({(*list)[i], module.section});
      }
    }
  }
  return tensors;
}

TensorCheck CheckTensors(const ModuleTable& table, const Checkpoint& checkpoint,
                         const std::string& dir) {
  TensorCheck check;
  std::set<std::string> known;
  for (const auto& [spec, section] : RequiredTensors(table)) {
    if (CheckShape(spec, checkpoint, check, known)) continue;
    check.missing.emplace_back(
        ErrorKind::kModel, ErrorLocation{.file = dir, .field = spec.name},
        "is missing from the checkpoint; its shape would be " + ShapeText(spec.shape));
  }
  for (const CopySpec& copy : table.copies()) CheckShape(copy.tensor, checkpoint, check, known);
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    if (!known.contains(name)) check.unexpected.push_back(name);
  }
  return check;
}

void ThrowFirst(const std::vector<Error>& problems) {
  if (problems.empty()) return;
  const Error& first = problems.front();
  if (problems.size() == 1) throw first;
  throw Error(first.kind(), first.location(),
              first.reason() + " (and " + std::to_string(problems.size() - 1) +
                  " more problems; platen inspect lists them)");
}

std::string UnexpectedTensors(const std::string& dir, const TensorCheck& check) {
  return dir + ": " + std::to_string(check.unexpected.size()) +
         " tensors are not part of the architecture and are not used, first " +
         check.unexpected.front();
}

}  // namespace platen
