// What a snapshot folder holds and everything that is wrong with it: the contents of
// `platen inspect`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/families/architecture.h"
#include "model/families/draft_weights.h"
#include "model/families/layout_model.h"
#include "model/families/reading_config.h"
#include "model/families/registry.h"
#include "model/support/error.h"

namespace platen {

// Tensors that differ only in their layer number.
struct TensorFamily {
  std::string name;  // "model.visual.blocks.*.norm1.weight"; of a single tensor, its own name
  DType dtype = DType::kF32;
  std::vector<int64_t> shape;
  int64_t count = 0;
};

struct TensorGroup {
  std::string name;  // as Module::section; "unexpected" for tensors outside the architecture
  std::vector<TensorFamily> families;  // in the order of the tensor table
  int64_t count = 0;
  int64_t parameters = 0;
  int64_t bytes = 0;
};

// A table the draft layer stores again.
enum class StoredCopy { kAbsent, kEqual, kDifferent };

struct TokenizerFacts {
  size_t base_tokens = 0;
  size_t added_tokens = 0;
  size_t merges = 0;
  TokenId max_id = 0;
};

struct CheckpointFile {
  std::string path;
  int64_t tensors = 0;
  int64_t bytes = 0;  // of tensors
};

// Draft weights that are installed for the snapshot, and packed files of it that exist.
struct DraftHeadFacts {
  std::string installed;  // the file; empty: none
  std::string why_not;    // it is not used; empty: it is
  DraftFileFacts says;    // of itself
  struct Packed {
    std::string path;
    std::string carries;  // the name of a file of draft weights; empty: the snapshot's own
    std::string problem;  // it cannot be read, or carries those of another model
  };
  std::vector<Packed> packed;
};
// `packed_paths` and `draft_head_paths`: where they may lie. Does not throw Error.
DraftHeadFacts InspectDraftHead(const std::string& dir,
                                const std::vector<std::string>& packed_paths,
                                const std::vector<std::string>& draft_head_paths);

// A part that could not be read is absent and has its error in `problems`.
struct InspectReport {
  std::string dir;
  std::string what;                                  // the folder is; in the first line
  bool is_snapshot = false;                          // else `problems` has but what it is instead
  std::shared_ptr<const Architecture> architecture;  // of a model that reads
  std::shared_ptr<const LayoutArchitecture> layout_model;  // of one that finds regions
  std::optional<ReadingConfig> reading;
  std::optional<QuantizationPlan> quantization;
  std::optional<TokenizerFacts> tokenizer;
  std::vector<CheckpointFile> files;
  std::vector<TensorGroup> groups;  // empty without config or checkpoint
  std::vector<Error> missing;
  std::vector<Error> mismatched;
  std::vector<std::string> unexpected;
  StoredCopy embedding_copy = StoredCopy::kAbsent;
  StoredCopy head_copy = StoredCopy::kAbsent;
  // Everything that makes the engine refuse the snapshot, `missing` and `mismatched` included.
  std::vector<Error> problems;
  std::vector<std::string> notes;  // oddities that do not hinder
  DraftHeadFacts draft_head;       // set by who knows where they lie

  bool usable() const { return problems.empty(); }
  // What its config.json says; nullptr: that could not be read.
  const DescribedModel* described() const {
    return architecture ? static_cast<const DescribedModel*>(architecture.get())
                        : layout_model.get();
  }
};

// Reads the whole folder, weights included (NaN and infinity are problems). Does not throw Error.
InspectReport InspectSnapshot(const std::string& dir,
                              const FamilyRegistry& families = FamilyRegistry::BuiltIn());

// The report as text for people: what the folder is, problems, everything else, the verdict. One
// line for what is no snapshot.
std::string FormatInspectReport(const InspectReport& report);

// The report as one JSON object.
std::string InspectReportJson(const InspectReport& report);

}  // namespace platen
