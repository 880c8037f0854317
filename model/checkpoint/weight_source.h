// Where the packed weights of a model come from: a checkpoint that is packed now, or a file packed
// before. What a model needs is its module table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/module_table.h"
#include "model/ops/linear.h"

namespace platen {

// A matrix of a linear: a tensor of the checkpoint whose first dimension is the rows, or a view of
// a part of one; transposed, its columns are the rows.
struct StoredMatrix {
  StoredTensor tensor;
  bool transposed = false;

  int64_t rows() const { return transposed ? stored_depth() : tensor.shape[0]; }
  int64_t depth() const { return transposed ? tensor.shape[0] : stored_depth(); }

 private:
  int64_t stored_depth() const { return tensor.num_elements() / tensor.shape[0]; }
};

// A linear put together from tensors of the checkpoint; see Module.
struct LinearSpec {
  std::string name;
  std::vector<StoredMatrix> rows;              // one below the other, all of one depth
  std::vector<const StoredTensor*> bias = {};  // one below the other; none: no bias
  bool silu_mul = false;
  int64_t taps = 1;
  bool full_precision = false;
  int group_size = WeightFormat::kDefaultGroup;

  LinearShape Shape(Precision precision) const;
};

class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // All three throw Error(kModel). `name` is the tensor's name in the module table.
  virtual Linear GetLinear(const LinearSpec& spec) = 0;
  virtual std::vector<float> GetVector(const std::string& name, const StoredTensor& tensor) = 0;
  virtual Table GetTable(const std::string& name, const StoredTensor& tensor) = 0;
};

// Sets every member of the table from `source`. The tensors were checked (CheckTensors) and
// `checkpoint` outlives the members. Throws what the source throws; members are then of no use.
void LoadModules(const ModuleTable& table, const Checkpoint& checkpoint, WeightSource& source);

// Widens and packs into memory, and refuses weights that are not finite. Of the checkpoint's pages
// only those of tables stay in memory.
class CheckpointSource final : public WeightSource {
 public:
  explicit CheckpointSource(Precision precision) : precision_(precision) {}

  Linear GetLinear(const LinearSpec& spec) override;
  std::vector<float> GetVector(const std::string& name, const StoredTensor& tensor) override;
  Table GetTable(const std::string& name, const StoredTensor& tensor) override;

 private:
  Precision precision_;
};

}  // namespace platen
