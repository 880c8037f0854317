// A draft layer or draft heads from a file of their own, in place of the snapshot's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/checkpoint.h"
#include "model/families/architecture.h"
#include "model/families/residual_heads.h"

namespace platen {

// What a file of draft weights says of itself (safetensors' "__metadata__"). All of it may be
// missing: the layer of a snapshot in a file of its own says nothing.
struct DraftFileFacts {
  // Keys of the metadata.
  static constexpr const char* kBaseModel = "platen.base_model";  // WeightsHash of the target
  static constexpr const char* kConvention = "platen.mtp_convention";
  static constexpr const char* kNormEps = "platen.norm_eps";       // of residual heads
  static constexpr const char* kActivation = "platen.activation";  // "silu", "relu2"; likewise
  // How often drafts 1 .. j of a round were all right, "0.98,0.95,...", with the model's own drafts
  // and with these, on the documents that judged.
  static constexpr const char* kOwnAcceptance = "platen.acceptance.own";
  static constexpr const char* kAcceptance = "platen.acceptance.these";

  std::string base_model;
  std::string convention;              // "default", ...: what the layer was trained to be run with
  std::vector<double> own_acceptance;  // each in [0, 1], none larger than the one before
  std::vector<double> acceptance;      // likewise; empty: not known, or not as it should be
};
DraftFileFacts FactsOf(const Checkpoint& draft_file);

// The residual heads that a file holds: where they say how they are computed, or where the model
// has no heads of its own, whose place they could take as they are. Nothing: it holds weights of
// the model's own layer or heads. Throws Error(kModel) naming file and tensor.
std::optional<ResidualHeadsConfig> HeadsIn(const Checkpoint& file, const std::string& path,
                                           int64_t hidden_size, bool has_own_heads);

// Draft weights of a file of their own, for a model to be run with.
struct DraftWeightsFile {
  std::string path;  // empty: none
  // For every run with the model, not for this one by name. What is wrong with such a file is told,
  // and the model's own are used; what was asked for by name must be usable.
  bool installed = false;
};

// The first of the paths (DraftHeadPaths) at which something is; else none.
DraftWeightsFile InstalledDraftHead(const std::vector<std::string>& paths);

// Describes, in place of what the model drafts with, what a file holds:
// - the tensors of its own draft layer or heads, under the snapshot's names, and nothing else; or
// - residual heads mtp_layers.K.{norm,gate_proj,up_proj,down_proj}.weight, which any decoder can
//   have: they take the place of the layer. Their norm's epsilon stands in the metadata.
// Nothing is loaded. Throws Error(kModel) naming file and tensor: a tensor is missing, unknown, or
// of another shape; the model has no draft layer. `kernels` outlives the parts.
void PlaceDraftWeights(const Checkpoint& file, const std::string& path, int64_t hidden_size,
                       const KernelTable& kernels, ModelParts& parts);

// Places and loads them. Drafts can change the speed of decoding, never a token. Throws
// Error(kModel) also for weights that are not finite. The checkpoint outlives the parts.
void LoadDraftWeights(const Checkpoint& file, const std::string& path, Precision precision,
                      int64_t hidden_size, const KernelTable& kernels, ModelParts& parts);

// A file of draft weights for a model whose weights have the hash `base_model`. Nothing: it was
// trained for another model or another way to draft, and `why` says so. Throws Error(kModel) as
// Checkpoint::OpenFile does.
std::optional<Checkpoint> OpenDraftWeights(const std::string& path, const std::string& base_model,
                                           std::string& why);

}  // namespace platen
