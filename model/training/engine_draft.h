// The engine's own draft layer or heads over weights that change: what training calls the drafts of
// a page are, bit for bit, those that decoding would make.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/families/snapshot.h"
#include "model/training/batch_gradient.h"

namespace platen {

// Loads of the snapshot only what drafting needs: embedding table, head, draft layer. One call at a
// time. `snapshot` and `kernels` outlive the object.
class EngineDraft {
 public:
  // `shape` is what `weights` of Load will have; the precision is that of layer and head.
  EngineDraft(const Snapshot& snapshot, const DraftShape& shape, const KernelTable& kernels,
              Precision precision, ChainOn chain_on = ChainOn::kNormed);
  ~EngineDraft();

  // Weights as a file of draft weights holds them. Throws Error(kModel) if they are not finite.
  void Load(const Checkpoint& weights);
  void Load(const Parameters<float>& parameters);
  void LoadOwn();  // the snapshot's own

  Matrix<float> Embed(std::span<const TokenId> ids) const;
  void Logits(ConstView<float> x, View<float> logits);

  // vectors[d]: what step d gives for the page, rows as DraftGraph::Vectors.
  void Vectors(const TrainingPage& page, int steps, std::vector<Matrix<float>>& vectors);
  // What the first step of a draft layer gives at all slots 0 .. L - 2.
  Matrix<float> FirstStep(const TrainingPage& page);

  // Slots that go through the layer together; tests take other numbers.
  void SetRowsOfBlock(int64_t rows) { rows_of_block_ = rows; }

  const StoredTensor& stored_head() const { return *stored_head_; }
  int64_t vocab_size() const { return vocab_size_; }

 private:
  struct Chain;
  void MakeWorkspaces();
  KvPool& PoolOf(int64_t blocks);
  void HeadVectors(const TrainingPage& page, int steps, std::vector<Matrix<float>>& vectors);

  const Snapshot& snapshot_;
  const DraftShape& shape_;
  const KernelTable& kernels_;
  const Precision precision_;
  const ChainOn chain_on_;
  int64_t rows_of_block_ = kRowsOfBlock;
  ModelParts parts_;
  const StoredTensor* stored_head_ = nullptr;
  int64_t vocab_size_ = 0;
  std::unique_ptr<Workspace> text_workspace_;
  std::unique_ptr<Workspace> heads_workspace_;
  std::unique_ptr<DraftWorkspace> layer_workspace_;
  std::unique_ptr<KvPool> pool_;  // of the page in work, or of a longer one before
};

// What a file of these weights says of itself: of heads, how they are computed.
std::map<std::string, std::string> MetadataOf(const DraftShape& shape);
// The trained tensors as a checkpoint's; views of `parameters`.
Checkpoint AsCheckpoint(const Parameters<float>& parameters);

}  // namespace platen
