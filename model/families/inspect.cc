#include "model/families/inspect.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "model/families/snapshot.h"

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

// "a.12.b" -> "a.*.b".
std::string FamilyPattern(const std::string& name) {
  std::string out;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isdigit(c) != 0;
    });
    if (begin > 0) out += '.';
    out += number ? "*" : part;
    begin = end + 1;
  }
  return out;
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

  const std::string pattern = FamilyPattern(tensor.name);
  auto family =
      std::find_if(group->families.begin(), group->families.end(), [&](const TensorFamily& f) {
        return FamilyPattern(f.name) == pattern && f.dtype == tensor.dtype &&
               f.shape == tensor.shape;
      });
  if (family == group->families.end()) {
    group->families.push_back(
        {.name = tensor.name, .dtype = tensor.dtype, .shape = tensor.shape, .count = 1});
  } else {
    family->name = pattern;
    ++family->count;
  }
}

std::vector<TensorGroup> GroupTensors(const ModelConfig& config, const Checkpoint& checkpoint,
                                      const std::vector<std::string>& unexpected) {
  std::vector<TensorGroup> groups;
  for (const auto& specs : {RequiredTensors(config), OptionalTensors(config)}) {
    for (const TensorSpec& spec : specs) {
      const StoredTensor* tensor = checkpoint.Find(spec.name);
      if (tensor != nullptr) AddToGroup(spec.group, *tensor, groups);
    }
  }
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

void CompareCopies(const TextConfig& text, const Checkpoint& checkpoint, InspectReport& report) {
  const std::string mtp = "model.language_model.layers." + std::to_string(text.num_layers) + ".";
  const StoredTensor* embedding = checkpoint.Find("model.language_model.embed_tokens.weight");
  const StoredTensor* head =
      text.tie_word_embeddings ? embedding : checkpoint.Find("lm_head.weight");
  report.embedding_copy = CompareCopy(checkpoint.Find(mtp + "embed_tokens.weight"), embedding);
  report.head_copy = CompareCopy(checkpoint.Find(mtp + "shared_head.head.weight"), head);
}

void InspectTensors(const Checkpoint& checkpoint, InspectReport& report) {
  ModelConfig& config = *report.config;
  TensorCheck check = CheckTensors(config, checkpoint, report.dir);
  report.problems.insert(report.problems.end(), check.missing.begin(), check.missing.end());
  report.problems.insert(report.problems.end(), check.mismatched.begin(), check.mismatched.end());
  report.missing = std::move(check.missing);
  report.mismatched = std::move(check.mismatched);
  report.unexpected = std::move(check.unexpected);
  const auto note =
      Attempt(report.problems, [&] { return ResolveHead(checkpoint, report.dir, config); });
  if (note && !note->empty()) report.notes.push_back(*note);
  report.groups = GroupTensors(config, checkpoint, report.unexpected);
  CompareCopies(config.text, checkpoint, report);
  for (const TensorSpec& spec : RequiredTensors(config)) {
    const StoredTensor* tensor = checkpoint.Find(spec.name);
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
  if (report.config && report.config->text.num_mtp_layers == 0) {
    report.notes.push_back("no draft head: decoding without speculation");
  }
}

}  // namespace

InspectReport InspectSnapshot(const std::string& dir) {
  InspectReport report;
  report.dir = dir;
  report.config = Attempt(report.problems, [&] { return ReadModelConfig(dir); });
  const std::string tokenizer_path = (std::filesystem::path(dir) / "tokenizer.json").string();
  const auto tokenizer = Attempt(report.problems, [&] { return Tokenizer::Load(tokenizer_path); });
  const auto checkpoint = Attempt(report.problems, [&] { return Checkpoint::Open(dir); });
  if (tokenizer) {
    report.tokenizer = TokenizerFacts{.base_tokens = tokenizer->num_base_tokens(),
                                      .added_tokens = tokenizer->num_added_tokens(),
                                      .merges = tokenizer->num_merges(),
                                      .max_id = tokenizer->max_id()};
  }
  if (report.config && tokenizer) {
    for (Error& problem : CheckTokens(*report.config, *tokenizer, dir)) {
      report.problems.push_back(std::move(problem));
    }
  }
  if (checkpoint) report.files = ListFiles(*checkpoint);
  if (report.config && checkpoint) InspectTensors(*checkpoint, report);
  AddNotes(report);
  return report;
}

}  // namespace platen
