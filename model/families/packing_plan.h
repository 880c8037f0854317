// What is packed of a snapshot: its weights, with the draft weights that are installed for it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/packed_weights.h"
#include "model/families/draft_weights.h"
#include "model/families/snapshot.h"

namespace platen {

// Immutable. The snapshot outlives it.
class PackingPlan {
 public:
  // `packing.paths` may know the hash of the snapshot's weights. Installed draft weights that
  // cannot be used are left out, and packing.warn is told why.
  PackingPlan(const Snapshot& snapshot, Precision precision, const DraftWeightsFile& draft_head,
              const PackingOptions& packing);

  PackedSubject subject() const;
  // The file of draft weights; empty: the snapshot's own.
  const std::string& draft_head() const { return draft_head_; }

 private:
  void Place(const Snapshot& snapshot, const std::string& path, const PackingOptions& packing);

  const Checkpoint& checkpoint_;
  const Precision precision_;
  ModelParts parts_;
  std::string draft_head_, base_model_;
  std::optional<Checkpoint> draft_file_;
};

}  // namespace platen
