#include "model/families/draft_weights.h"

#include <charconv>
#include <memory>

#include "model/checkpoint/tensor_check.h"
#include "model/checkpoint/weight_source.h"
#include "model/support/error.h"
#include "model/support/json_fields.h"

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

// Nothing but what chances can be.
std::vector<double> AcceptanceIn(const Checkpoint& file, const char* key) {
  const std::string text = Value(file, key);
  std::vector<double> chances;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (bool more = !text.empty(); more; ++at) {
    double chance = 0;
    const auto [after, error] = std::from_chars(at, end, chance);
    const double most = chances.empty() ? 1 : chances.back();
    more = after < end;
    if (error != std::errc() || !(chance >= 0 && chance <= most)) return {};
    if ((more && *after != ',') || chances.size() == kMostHeads) return {};
    chances.push_back(chance);
    at = after;
  }
  return chances;
}

ModuleTable OwnDrafts(const ModuleTable& modules) {
  ModuleTable layer;
  for (const Module& module : modules.modules()) {
    if (module.rows_of == RowsOf::kDraft) layer.Add(module);
  }
  return layer;
}

void Check(const ModuleTable& layer, const Checkpoint& checkpoint, const std::string& path) {
  const TensorCheck check = CheckTensors(layer, checkpoint, path);
  for (const auto* problems : {&check.missing, &check.mismatched}) {
    if (!problems->empty()) throw problems->front();
  }
  if (!check.unexpected.empty()) {
    Fail(path, check.unexpected.front(), "is no tensor of this model's draft layer");
  }
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

void PlaceHeads(const ResidualHeadsConfig& config, const Checkpoint& file, const std::string& path,
                const KernelTable& kernels, ModelParts& parts) {
  auto weights = std::make_shared<std::vector<ResidualHeadWeights>>();
  ModuleTable table(weights);
  DescribeResidualHeads(config, *weights, table);
  Check(table, file, path);
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
          Value(draft_file, DraftFileFacts::kConvention),
          AcceptanceIn(draft_file, DraftFileFacts::kOwnAcceptance),
          AcceptanceIn(draft_file, DraftFileFacts::kAcceptance)};
}

DraftWeightsFile InstalledDraftHead(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (FileExists(path)) return {path, true};
  }
  return {};
}

void PlaceDraftWeights(const Checkpoint& file, const std::string& path, int64_t hidden_size,
                       const KernelTable& kernels, ModelParts& parts) {
  const auto heads = HeadsIn(file, path, hidden_size, parts.heads != nullptr);
  if (heads) {
    PlaceHeads(*heads, file, path, kernels, parts);
    return;
  }
  const ModuleTable layer = OwnDrafts(parts.modules);
  if (layer.modules().empty()) {
    Fail(path, "", "cannot be used: this model has no draft layer, see platen inspect");
  }
  Check(layer, file, path);
}

void LoadDraftWeights(const Checkpoint& file, const std::string& path, Precision precision,
                      int64_t hidden_size, const KernelTable& kernels, ModelParts& parts) {
  PlaceDraftWeights(file, path, hidden_size, kernels, parts);
  CheckpointSource source(precision);
  LoadModules(OwnDrafts(parts.modules), file, source);
}

// Weights trained for another target would only make drafts that are refused.
std::optional<Checkpoint> OpenDraftWeights(const std::string& path, const std::string& base_model,
                                           std::string& why) {
  Checkpoint file = Checkpoint::OpenFile(path);
  const DraftFileFacts facts = FactsOf(file);
  if (!facts.base_model.empty() && facts.base_model != base_model) {
    why = "was trained for another model";
    return std::nullopt;
  }
  if (!facts.convention.empty() && facts.convention != "default") {
    why =
        "was trained for the convention " + facts.convention + ", which is not how drafts are made";
    return std::nullopt;
  }
  return file;
}

}  // namespace platen
