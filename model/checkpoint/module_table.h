// The modules of a model, each described once by its family: where it lives in memory, which
// tensors of the checkpoint it is made of, their shapes, and how it is computed with.
//
// Everything that needs a list of layers walks this table: checking and inspecting a checkpoint,
// int8 groups, packing, loading, counting operations. There is no second list.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/quantization_plan.h"
#include "model/ops/linear.h"

namespace platen {

// Rows read one at a time, as they are stored.
struct Table {
  StoredTensor tensor;
  std::shared_ptr<const void> owner;  // of the bytes; null: they lie in the snapshot's checkpoint
};

// A part of a tensor, seen as a matrix whose rows are its last dimension: `count` rows from `first`
// on. Transposed, the columns of these rows are the rows of what is computed.
struct TensorPart {
  int64_t first = 0;
  int64_t count = 0;
  bool transposed = false;
};

// One tensor the checkpoint must hold.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  std::vector<std::string> aliases = {};  // other names under which checkpoints store it
  std::optional<TensorPart> part = {};    // of a linear that takes no more of it; others: all
};

// The tensor under its name or, if there is none, under the first alias that exists; nullptr:
// absent.
const StoredTensor* FindTensor(const Checkpoint& checkpoint, const TensorSpec& spec);

// Which rows a linear multiplies, for counting operations: every patch of an image, every image
// token, every row of the decoder, the rows that get logits, the rows of the draft layer.
enum class RowsOf { kPatch, kImageToken, kToken, kLogits, kDraft };

struct Module {
  // A weight matrix, packed for the kernels; a vector of f32 (a norm's weights, a bias); a table
  // whose rows are read one at a time, as they are stored.
  using Member = std::variant<Linear*, std::vector<float>*, Table*>;

  std::string name;     // unique; of a linear the name that int8.groups of platen.json uses
  std::string section;  // "embedding", "decoder", ...: a heading of `platen inspect`
  Member member;
  std::vector<TensorSpec> weights;      // matrices one below the other; one for all but linears
  std::vector<TensorSpec> biases = {};  // of a linear, one below the other; none: no bias
  bool silu_mul = false;  // the first half of the rows is the gate, the second the other factor
  int64_t taps = 1;  // a row is stored [depth / taps, taps], multiplied as [taps, depth / taps]
  bool full_precision = false;  // of a linear: in f32 whatever the precision of the others
  RowsOf rows_of = RowsOf::kToken;
  double share_of_rows = 1;  // of those that a linear sees, in the mean: less for an expert
  int group_size = WeightFormat::kDefaultGroup;  // K-group of int8 weights, see SetGroupSizes

  // nullptr unless the module is one.
  const Linear* linear() const {
    const auto* linear = std::get_if<Linear*>(&member);
    return linear == nullptr ? nullptr : *linear;
  }
  bool is_linear() const { return std::holds_alternative<Linear*>(member); }
  int64_t num_weights() const;  // elements of `weights`, of parts no others
};

// A tensor a checkpoint may hold although no module is made of it: a stored copy of another one.
struct CopySpec {
  TensorSpec tensor;
  std::string section;
  std::string of;    // name of the tensor it repeats
  std::string role;  // "embedding" or "head" of the draft layer; empty: not reported
};

class ModuleTable {
 public:
  // `members` owns what Module::member points to and lives as long as the table.
  explicit ModuleTable(std::shared_ptr<void> members = nullptr) : members_(std::move(members)) {}

  // Valid until the next module is added.
  Module& Add(Module module) { return modules_.emplace_back(std::move(module)); }
  void AddCopy(CopySpec copy) { copies_.push_back(std::move(copy)); }

  const std::vector<Module>& modules() const { return modules_; }
  const std::vector<CopySpec>& copies() const { return copies_; }

  // Names of the linears, in the order of the table.
  std::vector<std::string> LinearNames() const;

  // Gives every linear its group size. The plan has been checked against LinearNames().
  void SetGroupSizes(const QuantizationPlan& plan);

  // The modules of `other`, in place of those that read the same rows: of the draft layer, kDraft.
  void Replace(RowsOf rows, ModuleTable other);

  // Memory of all linears that have been loaded.
  int64_t PackedBytes() const;

 private:
  std::vector<Module> modules_;
  std::vector<CopySpec> copies_;
  std::shared_ptr<void> members_;
  std::map<RowsOf, std::shared_ptr<void>> other_members_;  // of tables that took a place
};

// Adds modules whose names share a prefix, a section and the rows they multiply. Shapes are rows,
// then columns; a linear NAME is made of NAME.weight and, if it has one, NAME.bias. What is
// returned may be changed (silu_mul, aliases, ...) until the next module is added.
class ModuleScope {
 public:
  ModuleScope(ModuleTable& table, std::string prefix, std::string section, RowsOf rows_of)
      : table_(table),
        prefix_(std::move(prefix)),
        section_(std::move(section)),
        rows_of_(rows_of) {}

  // `tensor` is the whole name below the prefix: "norm1.weight".
  Module& AddVector(std::vector<float>& member, const std::string& tensor, int64_t size);
  Module& AddTable(Table& member, const std::string& tensor, int64_t rows, int64_t columns);

  enum class Bias { kNone, kStored };
  // One matrix.
  Module& AddLinear(Linear& member, const std::string& name, std::vector<int64_t> shape,
                    Bias bias = Bias::kNone);
  // A part of a matrix, or of several one below the other, under a name of its own. `tensor` is the
  // whole name of the tensor below the prefix.
  Module& AddPart(Linear& member, const std::string& name, const std::string& tensor,
                  std::vector<int64_t> shape, const TensorPart& part);
  // Matrices one below the other under a name of their own: {{"q_proj", 64}, {"k_proj", 32}} of
  // `depth` columns each.
  struct Part {
    std::string name;
    int64_t rows = 0;
  };
  Module& AddStacked(Linear& member, const std::string& name, const std::vector<Part>& parts,
                     int64_t depth, Bias bias = Bias::kNone);

 private:
  Module& Append(Module module);

  ModuleTable& table_;
  std::string prefix_;
  std::string section_;
  RowsOf rows_of_;
};

}  // namespace platen
