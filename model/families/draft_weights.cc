#include "model/families/draft_weights.h"

#include <charconv>
#include <memory>

#include "model/checkpoint/tensor_check.h"
#include "model/checkpoint/weight_source.h"
#include "model/support/error.h"

namespace platen {
namespace {

constexpr int kMostHeads = 16;
constexpr int64_t kWidestHead = 1 << 20;
constexpr const char* kFirstHead = "mtp_layers.0.norm.weight";

[[noreturn]] void Fail(const std::string& path, const std::string& field,
                       const std::string& reason) {
  throw Error(ErrorKind::kModel, {.file = path, .field = field}, reason);
}

std::string Value(const Checkpoint& file, const char* key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? "" : found->second;
}

ModuleTable OwnDrafts(const ModuleTable& modules) {
  ModuleTable layer;
  for (const Module& module : modules.modules()) {
    if (module.rows_of == RowsOf::kDraft) layer.Add(module);
  }
  return layer;
}

void Load(const ModuleTable& layer, const Checkpoint& checkpoint, const std::string& path,
          Precision precision) {
  const TensorCheck check = CheckTensors(layer, checkpoint, path);
  for (const auto* problems : {&check.missing, &check.mismatched}) {
    if (!problems->empty()) throw problems->front();
  }
  if (!check.unexpected.empty()) {
    Fail(path, check.unexpected.front(), "is no tensor of this model's draft layer");
  }
  CheckpointSource source(precision);
  LoadModules(layer, checkpoint, source);
}

float NormEps(const Checkpoint& file, const std::string& path) {
  const std::string text = Value(file, DraftFileFacts::kNormEps);
  float eps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), eps);
  if (error != std::errc() || end != text.data() + text.size() || !(eps > 0 && eps < 1)) {
    Fail(path, DraftFileFacts::kNormEps,
         "must be a number between 0 and 1 in the file's metadata, not \"" + text + "\"");
  }
  return eps;
}

Activation ActivationOf(const Checkpoint& file, const std::string& path) {
  const std::string name = Value(file, DraftFileFacts::kActivation);
  if (name.empty() || name == "silu") return Activation::kSilu;
  if (name == "relu2") return Activation::kRelu2;
  Fail(path, DraftFileFacts::kActivation, "is \"" + name + "\"; silu and relu2 are computed");
}

void LoadHeads(const ResidualHeadsConfig& config, const Checkpoint& file, const std::string& path,
               Precision precision, const KernelTable& kernels, ModelParts& parts) {
  auto weights = std::make_shared<std::vector<ResidualHeadWeights>>();
  ModuleTable table(weights);
  DescribeResidualHeads(config, *weights, table);
  Load(table, file, path, precision);
  parts.draft.reset();
  parts.heads =
      std::make_unique<ResidualHeads>(config.activation, config.norm_eps, *weights, kernels);
  parts.modules.Replace(RowsOf::kDraft, std::move(table));
}

}  // namespace

// How many heads there are and how wide, by the names and shapes of their tensors; whether they fit
// is CheckTensors' to say.
std::optional<ResidualHeadsConfig> HeadsIn(const Checkpoint& file, const std::string& path,
                                           int64_t hidden_size, bool has_own_heads) {
  const bool says_how = !Value(file, DraftFileFacts::kNormEps).empty();
  if (file.Find(kFirstHead) == nullptr || (has_own_heads && !says_how)) return std::nullopt;
  ResidualHeadsConfig config;
  config.hidden_size = hidden_size;
  while (config.count < kMostHeads &&
         file.Find("mtp_layers." + std::to_string(config.count) + ".norm.weight") != nullptr) {
    ++config.count;
  }
  const char* name = "mtp_layers.0.gate_proj.weight";
  const StoredTensor* gate = file.Find(name);
  if (gate == nullptr) Fail(path, name, "is missing");
  if (gate->shape.size() != 2 || gate->shape[0] < 1 || gate->shape[0] > kWidestHead) {
    Fail(path, name, "has shape " + ShapeText(gate->shape) + "; it must be a matrix");
  }
  config.inner_size = gate->shape[0];
  config.norm_eps = NormEps(file, path);
  config.activation = ActivationOf(file, path);
  return config;
}

DraftFileFacts FactsOf(const Checkpoint& draft_file) {
  return {Value(draft_file, DraftFileFacts::kBaseModel),
          Value(draft_file, DraftFileFacts::kConvention)};
}

void LoadDraftWeights(const Checkpoint& checkpoint, const std::string& path, Precision precision,
                      int64_t hidden_size, const KernelTable& kernels, ModelParts& parts) {
  const auto heads = HeadsIn(checkpoint, path, hidden_size, parts.heads != nullptr);
  if (heads) {
    LoadHeads(*heads, checkpoint, path, precision, kernels, parts);
    return;
  }
  const ModuleTable layer = OwnDrafts(parts.modules);
  if (layer.modules().empty()) {
    Fail(path, "", "cannot be used: this model has no draft layer, see platen inspect");
  }
  Load(layer, checkpoint, path, precision);
}

Checkpoint LoadDraftWeights(const std::string& path, Precision precision, int64_t hidden_size,
                            const KernelTable& kernels, ModelParts& parts) {
  Checkpoint checkpoint = Checkpoint::OpenFile(path);
  LoadDraftWeights(checkpoint, path, precision, hidden_size, kernels, parts);
  return checkpoint;
}

}  // namespace platen
