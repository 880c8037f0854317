#include "model/families/draft_weights.h"

#include "model/checkpoint/tensor_check.h"
#include "model/checkpoint/weight_source.h"
#include "model/support/error.h"

namespace platen {

Checkpoint LoadDraftWeights(const std::string& path, Precision precision, ModuleTable& modules) {
  ModuleTable layer;
  for (const Module& module : modules.modules()) {
    if (module.rows_of == RowsOf::kDraft) layer.Add(module);
  }
  const auto fail = [&](const std::string& field, const std::string& reason) {
    throw Error(ErrorKind::kModel, {.file = path, .field = field}, reason);
  };
  if (layer.modules().empty()) {
    fail("", "cannot be used: this model has no draft layer, see platen inspect");
  }
  Checkpoint checkpoint = Checkpoint::OpenFile(path);
  const TensorCheck check = CheckTensors(layer, checkpoint, path);
  for (const auto* problems : {&check.missing, &check.mismatched}) {
    if (!problems->empty()) throw problems->front();
  }
  if (!check.unexpected.empty()) {
    fail(check.unexpected.front(), "is no tensor of this model's draft layer");
  }
  CheckpointSource source(precision);
  LoadModules(layer, checkpoint, source);
  return checkpoint;
}

}  // namespace platen
