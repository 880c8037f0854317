#include "model/families/packing_plan.h"

#include "model/kernels/kernels.h"
#include "model/support/error.h"

namespace platen {

PackingPlan::PackingPlan(const Snapshot& snapshot, Precision precision,
                         const DraftWeightsFile& draft_head, const PackingOptions& packing)
    : checkpoint_(snapshot.checkpoint),
      precision_(precision),
      parts_(snapshot.architecture->Build(BestKernels(), VisionAttention::kF32)) {
  parts_.modules.SetGroupSizes(snapshot.quantization);
  if (draft_head.path.empty()) return;
  try {
    Place(snapshot, draft_head.path, packing);
  } catch (const Error& e) {
    if (e.location().file != draft_head.path) throw;
    packing.warn(std::string(e.what()) + "; the model's own drafts are used");
  }
}

void PackingPlan::Place(const Snapshot& snapshot, const std::string& path,
                        const PackingOptions& packing) {
  std::string hash = KnownWeightsHash(checkpoint_, packing.paths), why;
  if (hash.empty()) hash = WeightsHash(checkpoint_);
  std::optional<Checkpoint> file = OpenDraftWeights(path, hash, why);
  if (!file) {
    packing.warn(path + ": " + why + "; the model's own drafts are used");
    return;
  }
  PlaceDraftWeights(*file, path, snapshot.architecture->text().hidden_size, BestKernels(), parts_);
  base_model_ = FactsOf(*file).base_model;
  draft_file_ = std::move(file);
  draft_head_ = path;
}

PackedSubject PackingPlan::subject() const {
  PackedSubject subject = {parts_.modules, checkpoint_, precision_, {}};
  if (draft_file_) subject.draft_head = {&*draft_file_, draft_head_, base_model_};
  return subject;
}

}  // namespace platen
