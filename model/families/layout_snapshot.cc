#include "model/families/layout_snapshot.h"

#include "model/checkpoint/tensor_check.h"

namespace platen {

LayoutSnapshot LoadLayoutSnapshot(const std::string& dir, const FamilyRegistry& families) {
  LayoutSnapshot snapshot = {.dir = dir,
                             .architecture = families.ReadLayout(dir),
                             .checkpoint = Checkpoint::Open(dir),
                             .warning = {}};
  const TensorCheck tensors =
      CheckTensors(snapshot.architecture->Modules(), snapshot.checkpoint, dir);
  ThrowFirst(tensors.missing);
  ThrowFirst(tensors.mismatched);
  if (!tensors.unexpected.empty()) {
    snapshot.warning = UnexpectedTensors(dir, tensors);
  }
  return snapshot;
}

}  // namespace platen
