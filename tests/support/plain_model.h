// The whole model written as plainly as possible: doubles, loops, no batching, no cache.
//
// It follows the specification's formulas line by line and shares nothing with the program but the
// config and the checkpoint reader. Slow; for small random snapshots.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/families/glm_ocr/config.h"
#include "model/families/snapshot.h"

namespace platen::testing {

class PlainModel {
 public:
  using Row = std::vector<double>;
  using Rows = std::vector<Row>;

  explicit PlainModel(const Snapshot& snapshot);

  // Embeddings of one image: patch rows in merge-block order -> one row per image token.
  Rows Vision(const std::vector<float>& patches, PatchGrid grid) const;

  // Hidden vectors after the final norm for ids with their positions; image rows are taken from
  // `images` in order.
  Rows Hidden(const std::vector<TokenId>& ids, const std::array<std::vector<int32_t>, 3>& positions,
              const Rows& images) const;

  Row Logits(const Row& hidden) const;

  // Output of the draft layer (after shared_head.norm) for every slot: tokens[i] is the token after
  // row i.
  Rows Draft(const Rows& hidden, const std::vector<TokenId>& next_tokens,
             const std::array<std::vector<int32_t>, 3>& positions) const;

 private:
  struct Tensor {
    std::vector<int64_t> shape;
    std::vector<double> values;
  };
  const Tensor& T(const std::string& name) const { return tensors_.at(name); }
  Row Linear(const std::string& name, const Row& x) const;
  Row Rms(const std::string& name, const Row& x, double eps) const;
  Rows DecoderLayer(int layer, Rows x, const std::array<std::vector<int32_t>, 3>& positions) const;
  Row Embedding(TokenId id) const;

  const glm_ocr::Config& config_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace platen::testing
