// Where the packed weights of a model come from. The forward pass's needs are written down once
// (weights.cc) and met by a checkpoint that is packed now, or by a file packed before.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/ops/linear.h"

namespace platen {

// A linear layer put together from tensors of the checkpoint.
struct ProductSpec {
  std::string name;                       // unique in a model
  std::vector<const StoredTensor*> rows;  // matrices one below the other, first dimension = rows
  std::vector<const StoredTensor*> bias = {};  // one below the other; none: no bias
  bool silu_mul = false;  // the first half of the rows is the gate, the second the other factor
  // A row is stored as [depth / places, places] and multiplied as [places, depth / places].
  int64_t places = 1;

  int group = WeightFormat::kDefaultGroup;  // K-group of int8 weights

  LinearShape Shape(Precision precision) const;
};

// Rows read one at a time, as they are stored.
struct Table {
  StoredTensor tensor;
  std::shared_ptr<const void>
      owner;  // keeps the bytes; null: they lie in the snapshot's checkpoint
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // All three throw Error(kModel).
  virtual Linear GetProduct(const ProductSpec& spec) = 0;
  virtual std::vector<float> GetVector(const StoredTensor& tensor) = 0;
  virtual Table GetTable(const StoredTensor& tensor) = 0;
};

// Widens and packs into memory, and refuses weights that are not finite. Of the checkpoint's pages
// only those of tables stay in memory.
class CheckpointSource final : public WeightSource {
 public:
  explicit CheckpointSource(Precision precision) : precision_(precision) {}

  Linear GetProduct(const ProductSpec& spec) override;
  std::vector<float> GetVector(const StoredTensor& tensor) override;
  Table GetTable(const StoredTensor& tensor) override;

 private:
  Precision precision_;
};

}  // namespace platen
