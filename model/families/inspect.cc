#include "model/families/inspect.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "model/checkpoint/tensor_check.h"
#include "model/families/folder_kind.h"
#include "model/families/snapshot.h"
#include "model/support/json_fields.h"

namespace platen {
namespace {

// Runs one part of the inspection; what it throws becomes a problem.
template <typename Part>
auto Attempt(std::vector<Error>& problems, Part part) -> std::optional<decltype(part())> {
  try {
    return part();
  } catch (const Error& error) {
    problems.push_back(error);
    return std::nullopt;
  }
}

void AddToGroup(const std::string& group_name, const StoredTensor& tensor,
                std::vector<TensorGroup>& groups) {
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const TensorGroup& g) { return g.name == group_name; });
  if (group == groups.end())
    group = groups.insert(groups.end(), {.name = group_name, .families = {}});
  ++group->count;
  group->parameters += tensor.num_elements();
  group->bytes += static_cast<int64_t>(tensor.bytes.size());

  const std::string pattern = PatternOf(tensor.name);
  auto family =
      std::find_if(group->families.begin(), group->families.end(), [&](const TensorFamily& f) {
        return PatternOf(f.name) == pattern && f.dtype == tensor.dtype && f.shape == tensor.shape;
      });
  if (family == group->families.end()) {
    group->families.push_back(
        {.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .count = 1});
  } else {
    family->name = pattern;
    ++family->count;
  }
}

std::vector<TensorGroup> GroupTensors(const ModuleTable& modules, const Checkpoint& checkpoint,
                                      const std::vector<std::string>& unexpected) {
  std::vector<TensorGroup> groups;
  std::set<std::string> counted;  // one tensor may be two modules, under another name
  const auto add = [&](const TensorSpec& spec, const std::string& section) {
    const StoredTensor* tensor = FindTensor(checkpoint, spec);
    if (tensor == nullptr || !counted.insert(tensor->name).second) return;
    AddToGroup(section, *tensor, groups);
  };
  for (const auto& [spec, section] : RequiredTensors(modules)) add(spec, section);
  for (const CopySpec& copy : modules.copies()) add(copy.tensor, copy.section);
  for (const std::string& name : unexpected) {
    AddToGroup("unexpected", *checkpoint.Find(name), groups);
  }
  return groups;
}

std::vector<CheckpointFile> ListFiles(const Checkpoint& checkpoint) {
  std::map<std::string, CheckpointFile> files;
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    CheckpointFile& file = files[tensor.file];
    file.path = tensor.file;
    ++file.tensors;
    file.bytes += static_cast<int64_t>(tensor.bytes.size());
  }
  std::vector<CheckpointFile> out;
  for (auto& [path, file] : files) out.push_back(std::move(file));
  return out;
}

StoredCopy CompareCopy(const StoredTensor* copy, const StoredTensor* shared) {
  if (copy == nullptr || shared == nullptr) return StoredCopy::kAbsent;
  return SameContent(*copy, *shared) ? StoredCopy::kEqual : StoredCopy::kDifferent;
}

void CompareCopies(const ModuleTable& modules, const Checkpoint& checkpoint,
                   InspectReport& report) {
  for (const CopySpec& copy : modules.copies()) {
    const StoredCopy state =
        CompareCopy(FindTensor(checkpoint, copy.tensor), checkpoint.Find(copy.of));
    if (copy.role == "embedding") report.embedding_copy = state;
    if (copy.role == "head") report.head_copy = state;
  }
}

// `settle` decides what only the checkpoint can tell, and says what is unusual.
template <typename Settle>
void InspectTensors(const Checkpoint& checkpoint, const DescribedModel& model, const Settle& settle,
                    InspectReport& report) {
  const auto note = Attempt(report.problems, settle);
  if (note && !note->empty()) report.notes.push_back(*note);
  const ModuleTable modules = model.Modules();
  TensorCheck check = CheckTensors(modules, checkpoint, report.dir);
  report.problems.insert(report.problems.end(), check.missing.begin(), check.missing.end());
  report.problems.insert(report.problems.end(), check.mismatched.begin(), check.mismatched.end());
  report.missing = std::move(check.missing);
  report.mismatched = std::move(check.mismatched);
  report.unexpected = std::move(check.unexpected);
  report.groups = GroupTensors(modules, checkpoint, report.unexpected);
  CompareCopies(modules, checkpoint, report);
  for (const auto& [spec, section] : RequiredTensors(modules)) {
    const StoredTensor* tensor = FindTensor(checkpoint, spec);
    if (tensor == nullptr) continue;
    Attempt(report.problems, [&] { return CheckFinite(*tensor), true; });
  }
}

void AddNotes(InspectReport& report) {
  if (!report.unexpected.empty()) {
    report.notes.push_back(std::to_string(report.unexpected.size()) +
                           " unexpected tensors are not used");
  }
  if (report.embedding_copy == StoredCopy::kDifferent ||
      report.head_copy == StoredCopy::kDifferent) {
    report.notes.push_back(
        "the draft head's stored copies differ from the shared tables; the shared ones are used");
  }
  if (report.architecture && report.architecture->text().num_draft_layers == 0) {
    report.notes.push_back("no draft head: decoding without speculation");
  }
}

// A layout model has neither tokenizer nor prompts.
InspectReport InspectLayoutModel(const std::string& dir, const FamilyRegistry& families) {
  InspectReport report;
  report.dir = dir;
  auto architecture = Attempt(report.problems, [&] { return families.ReadLayout(dir); });
  const auto checkpoint = Attempt(report.problems, [&] { return Checkpoint::Open(dir); });
  if (checkpoint) report.files = ListFiles(*checkpoint);
  if (architecture && checkpoint) {
    InspectTensors(
        *checkpoint, **architecture, [] { return std::string(); }, report);
  }
  if (architecture) report.layout_model = std::move(*architecture);
  AddNotes(report);
  return report;
}

// A model that reads.
InspectReport InspectReader(const std::string& dir, const FamilyRegistry& families) {
  InspectReport report;
  report.dir = dir;
  auto architecture = Attempt(report.problems, [&] { return families.Read(dir); });
  const std::string own = SnapshotFile(dir, "platen.json");
  if (architecture) {
    report.reading = Attempt(report.problems, [&] {
      return ReadReadingConfig(own, (*architecture)->image_placeholder());
    });
    report.quantization = Attempt(report.problems, [&] { return ReadQuantizationPlan(own); });
  }
  const std::string tokenizer_path = SnapshotFile(dir, "tokenizer.json");
  const auto tokenizer = Attempt(report.problems, [&] { return Tokenizer::Load(tokenizer_path); });
  const auto checkpoint = Attempt(report.problems, [&] { return Checkpoint::Open(dir); });
  if (tokenizer) {
    report.tokenizer = TokenizerFacts{.base_tokens = tokenizer->num_base_tokens(),
                                      .added_tokens = tokenizer->num_added_tokens(),
                                      .merges = tokenizer->num_merges(),
                                      .max_id = tokenizer->max_id()};
  }
  if (architecture && tokenizer) {
    for (Error& problem : CheckTokens(**architecture, *tokenizer, dir)) {
      report.problems.push_back(std::move(problem));
    }
  }
  if (checkpoint) report.files = ListFiles(*checkpoint);
  if (architecture && checkpoint) {
    const auto settle = [&] {
      return SettleSnapshot(*checkpoint, report.quantization.value_or(QuantizationPlan()), dir,
                            **architecture);
    };
    InspectTensors(*checkpoint, **architecture, settle, report);
  }
  if (architecture) report.architecture = std::move(*architecture);
  AddNotes(report);
  return report;
}

}  // namespace

InspectReport InspectSnapshot(const std::string& dir, const FamilyRegistry& families) {
  const FolderKind kind = KindOfFolder(dir, families);
  InspectReport report;
  if (!kind.is_snapshot) {
    report.dir = dir;
    report.problems = {Error(ErrorKind::kModel, {.file = dir, .field = {}}, kind.what)};
  } else if (families.IsLayoutModel(dir)) {
    report = InspectLayoutModel(dir, families);
  } else {
    report = InspectReader(dir, families);
  }
  report.what = kind.what;
  report.is_snapshot = kind.is_snapshot;
  return report;
}

}  // namespace platen
